package attachment

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNote_SaysWhatIsKnownOfAPart(t *testing.T) {
	t.Parallel()
	const hash = "sha256 9b96a1fe1d548cbb" // of "hi there"
	for _, c := range [][2]string{
		{`{"type":"image_url"}`, "[image]"},
		{
			`{"type":"image_url","image_url":{"url":"https://x.example/a.png?sig=secret","detail":"low"}}`,
			"[image: https://x.example/a.png]",
		},
		{`{"type":"image_url","image_url":"https://user:pw@x.example/a.png"}`, "[image: https://x.example/a.png]"},
		{
			`{"type":"input_image","image_url":"https://x.example/b.png","caption":"A dog\non [a] beach"}`,
			"[image: A dog on (a) beach, https://x.example/b.png]",
		},
		{
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,aGkgdGhlcmU="}}`,
			"[image: image/png, " + hash + "]",
		},
		{
			`{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"aGkgdGhlcmU="}}`,
			"[image: image/jpeg, " + hash + "]",
		},
		{`{"type":"image","source":{"type":"url","url":"https://x.example/c"}}`, "[image: https://x.example/c]"},
		{`{"type":"image","data":"aGkgdGhlcmU=","mimeType":"image/webp"}`, "[image: image/webp, " + hash + "]"},
		{
			`{"type":"file","file":{"filename":"cv.pdf","file_data":"data:application/pdf;base64,aGkgdGhlcmU="}}`,
			"[image: cv.pdf, application/pdf, " + hash + "]",
		},
		{
			`{"type":"document","title":"Terms","source":{"type":"text","data":"hi there","media_type":"text/plain"}}`,
			"[image: Terms, text/plain, sha256 9b96a1fe1d548cbb]",
		},
		{
			`{"type":"resource","resource":{"uri":"https://x.example/d","name":"Plan","text":"words"}}`,
			"[image: Plan, https://x.example/d]",
		},
		{`{"type":"image_url","image_url":{"url":"javascript:alert(1)"}}`, "[image]"},
		{`{"type":"image_url","image_url":{"url":7},"alt":["x"]}`, "[image]"},
		{
			`{"type":"x","sha256":"` + strings.Repeat("ab", 32) + `","media_type":"image/png","caption":"` + "\\u0000\"}",
			"[image: image/png, sha256 abababababababab]",
		},
	} {
		part, want := c[0], c[1]
		var fields map[string]any
		if err := json.Unmarshal([]byte(part), &fields); err != nil {
			t.Fatal(err)
		}
		if got := Of(fields).Note("image"); got != want {
			t.Errorf("%s: %q, want %q", part, got, want)
		}
	}
}

func TestOf_BoundsWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, long := range []string{
		strings.Repeat("界", 100_000), strings.Repeat("a]", 100_000), strings.Repeat("\xff", 9999),
	} {
		note := Of(map[string]any{"caption": long, "url": "https://x.example/" + long, "media_type": long, "sha256": long}).
			Note("image")
		if n := utf8.RuneCountInString(note); n > 3000 || !utf8.ValidString(note) || strings.Count(note, "]") != 1 {
			t.Errorf("a note of %d characters: %.100q", n, note)
		}
	}
}
