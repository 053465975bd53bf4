package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The limits of fields. openapi.yaml states them too.
const (
	MaxIDBytes       = 256 // app, user, agent, conversation and client ids
	MaxContentRunes  = 4096
	MaxAskedRunes    = 1000
	MaxMessages      = 100
	MaxMessageBytes  = 64 << 10
	MaxRawBytes      = 256 << 10 // of a message as JSON
	MaxMetadataBytes = 8 << 10
	MaxTags          = 32
	MaxTagRunes      = 64
	MaxBatch         = 1000
	MaxQueryRunes    = 64 << 10 // as long as a message
	MaxLimit         = 100      // memories in one recall
	MaxPage          = 500      // rows in one page of a list
)

// CheckID says what is wrong with an id that a client chose; "" if it is valid. An
// empty id is valid only if it is optional. The other checks return "" likewise.
func CheckID(id string, optional bool) string {
	switch {
	case id == "" && optional:
		return ""
	case id == "":
		return "is empty: give 1 to 256 bytes"
	case len(id) > MaxIDBytes:
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(id), MaxIDBytes)
	case id == PoolUser:
		return "is reserved for the shared pool of an app (GET /v1/pool): give another id"
	}
	return checkText(id, true)
}

// CheckContent says what is wrong with the content of a memory or a query.
func CheckContent(s string, maxRunes int) string {
	if n := utf8.RuneCountInString(s); n == 0 {
		return fmt.Sprintf("is empty: give 1 to %d characters", maxRunes)
	} else if n > maxRunes {
		return fmt.Sprintf("has %d characters: at most %d are allowed", n, maxRunes)
	}
	if !slices.ContainsFunc([]rune(s), func(r rune) bool { return !unicode.IsSpace(r) }) {
		return "is blank: give it a visible character"
	}
	return checkText(s, false)
}

// CheckMessage says what is wrong with the content of a message, which may be empty.
func CheckMessage(s string) string {
	if len(s) > MaxMessageBytes {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(s), MaxMessageBytes)
	}
	return checkText(s, false)
}

// CheckRawMessage says what is wrong with the JSON of a message; nil is valid.
func CheckRawMessage(raw json.RawMessage) string {
	if len(raw) > MaxRawBytes {
		return fmt.Sprintf("has %d bytes of JSON: at most %d are allowed, so send links to images and files",
			len(raw), MaxRawBytes)
	}
	return checkObject(raw)
}

// CheckTitle says what is wrong with the title of a conversation: one line of
// visible text.
func CheckTitle(s string) string {
	if why := CheckContent(s, MaxTitleRunes); why != "" {
		return why
	}
	return checkText(s, true)
}

// CheckMetadata says what is wrong with a metadata object; nil is valid.
func CheckMetadata(raw json.RawMessage) string {
	if len(raw) > MaxMetadataBytes {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(raw), MaxMetadataBytes)
	}
	return checkObject(raw)
}

// checkObject refuses JSON that is not an object, and values that a store cannot keep.
func checkObject(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var object map[string]any
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return "is not a JSON object"
	}
	return checkValue(object)
}

// CheckTags says what is wrong with a list of tags.
func CheckTags(tags []string) string {
	if len(tags) > MaxTags {
		return fmt.Sprintf("has %d tags: at most %d are allowed", len(tags), MaxTags)
	}
	for _, tag := range tags {
		if why := CheckContent(tag, MaxTagRunes); why != "" {
			return "holds a tag that " + why
		}
	}
	return ""
}

// checkText refuses text that one of the stores cannot hold or a reader cannot see.
func checkText(s string, noControls bool) string {
	if !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	for _, r := range s {
		if r == 0 {
			return "holds a NUL character"
		}
		if noControls && unicode.IsControl(r) {
			return fmt.Sprintf("holds the control character %U", r)
		}
	}
	return ""
}

// checkValue refuses NUL characters in a decoded JSON value: Postgres cannot hold them.
func checkValue(v any) string {
	switch v := v.(type) {
	case string:
		return checkText(v, false)
	case []any:
		for _, item := range v {
			if why := checkValue(item); why != "" {
				return why
			}
		}
	case map[string]any:
		for key, item := range v {
			if why := checkText(key, false); why != "" {
				return why
			}
			if why := checkValue(item); why != "" {
				return why
			}
		}
	}
	return ""
}
