// Package attachment says what is known of a part of a message that is no text, such as an image:
//
//	part of OpenAI, Anthropic, MCP or mem0 -> caption, URL without its query, media type and hash of data
//	                                       -> a note, such as "[image: A heron, https://example.com/heron.jpg]"
package attachment

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// Attachment is what is known of a part. All fields may be empty.
type Attachment struct {
	Caption   string `json:"caption,omitempty"` // one line, at most 300 characters
	URL       string `json:"url,omitempty"`     // without query and user, which may give access; at most 500 bytes
	MediaType string `json:"media_type,omitempty"`
	SHA256    string `json:"sha256,omitempty"` // of its data, in hexadecimal digits
}

const (
	mostCaption = 300 // characters
	mostURL     = 500 // bytes
	shownDigits = 16  // of a hash
)

// The fields of parts, and the objects in them that have such fields.
var (
	objects  = []string{"image_url", "source", "file", "document", "resource", "video_url", "input_audio", "audio_url"}
	captions = []string{"caption", "description", "alt", "alt_text", "title", "filename", "file_name", "name"}
	urls     = []string{"url", "image_url", "file_url", "video_url", "uri"}
	contents = []string{"data", "file_data", "blob"}
	hashes   = []string{"sha256"}
	types    = []string{"media_type", "mimeType", "mime_type", "format"}
)

// Of reads a part.
func Of(part map[string]any) Attachment {
	within := []map[string]any{part}
	for _, name := range objects {
		if object, ok := part[name].(map[string]any); ok {
			within = append(within, object)
		}
	}
	first := func(names []string) string {
		for _, object := range within {
			for _, name := range names {
				if s, ok := object[name].(string); ok && s != "" {
					return s
				}
			}
		}
		return ""
	}
	a := Attachment{Caption: line(first(captions)), MediaType: line(first(types)), SHA256: first(hashes)}
	if raw, err := hex.DecodeString(a.SHA256); err != nil || len(raw) != sha256.Size {
		a.SHA256 = ""
	}
	address, data := first(urls), first(contents)
	for _, s := range []string{address, data} {
		inline, isInline := strings.CutPrefix(s, "data:")
		if !isInline {
			continue
		}
		header, encoded, _ := strings.Cut(inline, ",")
		mediaType, _, _ := strings.Cut(header, ";")
		a.MediaType = line(mediaType)
		address, data = "", encoded
	}
	a.URL = withoutQuery(address)
	if data != "" {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			raw = []byte(data)
		}
		sum := sha256.Sum256(raw)
		a.SHA256 = hex.EncodeToString(sum[:])
	}
	return a
}

// Note stands for the part in a text, as in "[image: A dog, https://example.com/dog.jpg]" or "[image]".
func (a Attachment) Note(name string) string {
	var words []string
	for _, s := range []string{a.Caption, a.URL} {
		if s != "" {
			words = append(words, s)
		}
	}
	if a.SHA256 != "" {
		words = append(words, cmp.Or(a.MediaType, "data"), "sha256 "+a.SHA256[:min(len(a.SHA256), shownDigits)])
	}
	if len(words) == 0 {
		return "[" + name + "]"
	}
	return "[" + name + ": " + strings.Join(words, ", ") + "]"
}

var note = lazyregexp.New(`^\s*\[(?:image|audio|file|video|document|resource)(?:: [^\[\]]*)?\]\s*$`)

// IsNote reports whether a text consists of a note, which states nothing.
func IsNote(s string) bool { return note.MatchString(s) }

func withoutQuery(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" || len(s) > 16*mostURL {
		return ""
	}
	s = u.Scheme + "://" + u.Host + u.EscapedPath()
	if len(s) > mostURL {
		s = u.Scheme + "://" + u.Host
	}
	return strings.NewReplacer("[", "%5B", "]", "%5D").Replace(s)
}

// line returns a text in one line that cannot end the note.
func line(s string) string {
	s = s[:min(len(s), 16*mostCaption)]
	s = strings.Join(strings.Fields(text.StripControls(strings.ToValidUTF8(s, ""))), " ")
	if utf8.RuneCountInString(s) > mostCaption {
		s = string([]rune(s)[:mostCaption]) + "…"
	}
	return strings.NewReplacer("[", "(", "]", ")").Replace(s)
}
