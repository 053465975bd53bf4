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

// restated is a memory's metadata with the value and the higher confidence of its fact. The metadata stays as it is if
// it states that value with no lower confidence, if it states the fact of another timeline, or if it states no fact
// because a client replaced it.
func restated(metadata json.RawMessage, f memory.Fact) json.RawMessage {
	entries, stated, ok := stating(metadata)
	if !ok || another(stated, f) || stated.Confidence >= f.Confidence && bytes.Equal(stated.Value, f.Value) {
		return metadata
	}
	entries["fact"] = encode(statementOf(f))
	return encode(entries)
}

// statesAnother reports whether the metadata of a memory states the fact of another timeline than f's.
func statesAnother(metadata json.RawMessage, f memory.Fact) bool {
	_, stated, ok := stating(metadata)
	return ok && another(stated, f)
}

func another(stated statement, f memory.Fact) bool {
	return stated.Key != "" && (stated.Type != f.Type || stated.Key != f.Key)
}

// stating reads the fact that metadata states, if any.
func stating(metadata json.RawMessage) (entries map[string]json.RawMessage, stated statement, ok bool) {
	ok = json.Unmarshal(metadata, &entries) == nil && json.Unmarshal(entries["fact"], &stated) == nil
	return entries, stated, ok
}

// encode does not escape HTML, so that no value becomes longer than its limit.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, numbers and valid JSON only: cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
