package facts

import (
	"bytes"
	"encoding/json"

	"hippocampus/internal/memory"
)

// statement is the entry "fact" in the metadata of a memory that states a fact.
type statement struct {
	Type       string          `json:"type"`
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Confidence float64         `json:"confidence"` // 0..1
}

// Metadata is the metadata of a memory that states a fact: {"fact": {"type", "key",
// "value", "confidence"}}. Type, key and value are in their canonical form.
func Metadata(f memory.Fact) json.RawMessage {
	return encode(map[string]any{"fact": statementOf(f)})
}

func statementOf(f memory.Fact) statement {
	return statement{Type: f.Type, Key: f.Key, Value: f.Value, Confidence: f.Confidence}
}

// restated is a memory's metadata with the confidence of its fact. It stays as it is
// if it states no lower confidence, or no fact because a client replaced it.
func restated(metadata json.RawMessage, f memory.Fact) json.RawMessage {
	var entries map[string]json.RawMessage
	var stated statement
	if json.Unmarshal(metadata, &entries) != nil || json.Unmarshal(entries["fact"], &stated) != nil ||
		stated.Confidence >= f.Confidence {
		return metadata
	}
	entries["fact"] = encode(statementOf(f))
	return encode(entries)
}

// encode does not escape HTML, so that no value becomes longer than its limit.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, numbers and valid JSON only: cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
