package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCheckID_NamesTheFault(t *testing.T) {
	t.Parallel()
	for id, complaint := range map[string]string{
		"ada": "", "用户": "", "a b": "", `"; drop --`: "", strings.Repeat("x", 256): "", strings.Repeat("界", 85): "",
		"": "empty", strings.Repeat("x", 257): "257 bytes", strings.Repeat("界", 86): "258 bytes",
		"a\x00": "NUL", "a\n": "U+000A", "a\u0085": "U+0085", "a\x7f": "U+007F", "\xff": "UTF-8",
	} {
		got := CheckID(id, false)
		if (got == "") != (complaint == "") || !strings.Contains(got, complaint) {
			t.Errorf("CheckID(%q) = %q, want %q", id, got, complaint)
		}
	}
	if got := CheckID("", true); got != "" {
		t.Errorf("an optional id may be empty: %q", got)
	}
	if !IsID(NewID()) || IsID("") || IsID(strings.ToUpper(NewID())) || IsID("{"+NewID()+"}") {
		t.Error("IsID must accept what NewID returns, and nothing else")
	}
}

func TestCheckContent_NamesTheFault(t *testing.T) {
	t.Parallel()
	for content, complaint := range map[string]string{
		"a": "", strings.Repeat("👩", 4096): "", "line\nline\ttab": "",
		"": "empty", " \n\t": "blank", strings.Repeat("a", 4097): "4097 characters", "a\x00b": "NUL", "a\xffb": "UTF-8",
	} {
		got := CheckContent(content, MaxContentRunes)
		if (got == "") != (complaint == "") || !strings.Contains(got, complaint) {
			t.Errorf("CheckContent(%.20q) = %q, want %q", content, got, complaint)
		}
	}
	long := strings.Repeat("x", MaxMessageBytes)
	if CheckMessage("") != "" || CheckMessage(long) != "" || CheckMessage(long+"x") == "" {
		t.Error("a message has 0 to 64 kB")
	}
}

func TestCheckMetadata_AcceptsObjectsWithoutNUL(t *testing.T) {
	t.Parallel()
	for raw, valid := range map[string]bool{
		`{}`: true, `{"a":{"b":[1,"c"]}}`: true, `[]`: false, `null`: false, `"a"`: false, `{`: false,
		`{"a":"\u0000"}`: false, `{"\u0000":1}`: false, `{"a":["\u0000"]}`: false,
		`{"a":"` + strings.Repeat("x", MaxMetadataBytes-8) + `"}`: true,
		`{"a":"` + strings.Repeat("x", MaxMetadataBytes) + `"}`:   false,
	} {
		if got := CheckMetadata(json.RawMessage(raw)); (got == "") != valid {
			t.Errorf("CheckMetadata(%.40s) = %q", raw, got)
		}
	}
	if CheckMetadata(nil) != "" {
		t.Error("nil metadata must be valid")
	}
	tooMany := make([]string, MaxTags+1)
	if CheckTags(tooMany) == "" || CheckTags([]string{""}) == "" || CheckTags([]string{"a", "界"}) != "" {
		t.Error("tags")
	}
}

func TestKindOf_FindsOutermostKind(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection refused")
	err := fmt.Errorf("recall: %w", Errorf(KindUnavailable, "read documents: %w", cause))
	if KindOf(err) != KindUnavailable || !IsKind(err, KindUnavailable) || !errors.Is(err, cause) {
		t.Errorf("%v has kind %s", err, KindOf(err))
	}
	if err.Error() != "recall: read documents: connection refused" {
		t.Errorf("text %q", err)
	}
	if KindOf(nil) != "" || KindOf(cause) != KindInternal {
		t.Error("nil must have no kind, and an error without a kind must be internal")
	}
	invalid := Invalid(Field{Path: "user_id", Message: "is empty"}, Field{Path: "limit", Message: "is 0"})
	if invalid.Error() != "the request is not valid: user_id is empty; limit is 0" || KindOf(invalid) != KindInvalid {
		t.Errorf("%v", invalid)
	}
}

func TestInstant_IsUTCInMicroseconds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	if got := Instant(at); got.Nanosecond() != 123456000 || got.Location() != time.UTC || got.Hour() != 11 {
		t.Errorf("Instant(%s) = %s", at, got)
	}
}
