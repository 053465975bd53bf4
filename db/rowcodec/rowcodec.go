// Package rowcodec converts values to and from the columns of both databases:
//
//	embedding <-> little-endian float32 bytes
//	messages  ->  JSON array
//	content   ->  hash column
//	any text  ->  text that a column can hold
//	memory    ->  whether its ids fit their columns
package rowcodec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"

	"hippocampus/internal/memory"
)

// VectorBytes is an embedding of n numbers as 4n bytes, float32 little-endian;
// nil for an empty one.
func VectorBytes(v []float32) []byte {
	if len(v) == 0 {
		return nil
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Vector is the inverse of VectorBytes. Bytes past a multiple of four are ignored.
func Vector(b []byte) []float32 {
	if len(b) < 4 {
		return nil
	}
	return AppendVector(make([]float32, 0, len(b)/4), b)
}

// AppendVector appends what Vector returns.
func AppendVector(v []float32, b []byte) []float32 {
	for ; len(b) >= 4; b = b[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return v
}

// MessagesJSON is the messages column of a turn. It has no HTML escapes, so that
// Message.Raw keeps its bytes and its size.
func MessagesJSON(messages []memory.Message) ([]byte, error) {
	if messages == nil {
		messages = []memory.Message{}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(messages)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// ContentHash is the SHA-256 of a content. It is a short index key for long texts.
func ContentHash(content string) []byte {
	sum := sha256.Sum256([]byte(content))
	return sum[:]
}

// Storable returns s with everything that no text column can hold (bytes that are
// not UTF-8, NUL characters) replaced by U+FFFD. Use it for texts from outside that
// people read, such as errors and refused answers, so that their bytes never
// prevent a failure from being recorded.
func Storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// CheckMemory refuses a memory of another owner than a transaction's, or with
// an invalid id. KindInvalid.
func CheckMemory(owner memory.Owner, m memory.Memory) error {
	if m.Owner != owner {
		return OfAnotherUser(memory.KindInvalid, "memory", m.ID)
	}
	return CheckIDs("memory", m.ID, map[string]string{"source_turn_id": m.SourceTurnID, "superseded_by": m.SupersededBy})
}

// OfAnotherUser is the error for a row of another owner than a transaction's.
func OfAnotherUser(kind memory.Kind, what, id string) error {
	return memory.Errorf(kind, "%s %s is of another user than the transaction: open one for its owner", what, id)
}

// CheckIDs refuses an invalid id of a row, or an invalid optional id by its field. KindInvalid.
func CheckIDs(what, id string, optional map[string]string) error {
	const text = "the %s %q of a %s is not an id: give a lower-case UUID"
	if !memory.IsID(id) {
		return memory.Errorf(memory.KindInvalid, text, "id", Storable(id), what)
	}
	for field, id := range optional {
		if id != "" && !memory.IsID(id) {
			return memory.Errorf(memory.KindInvalid, text, field, Storable(id), what)
		}
	}
	return nil
}
