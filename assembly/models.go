package assembly

import (
	_ "embed"
	"encoding/json"
	"strings"

	"hippocampus/internal/text"
)

//go:embed models.json
var modelsFile []byte

// Model is what is known of a language model.
type Model struct {
	Name     string        `json:"model"`    // prefix of its name
	Window   int           `json:"window"`   // tokens of prompt and answer
	Response int           `json:"response"` // tokens of an answer, at most
	Encoding text.Encoding `json:"encoding"` // empty: not public, estimated as o200k_base times Scale
	Scale    float64       `json:"scale"`    // its tokens per token of the encoding, rounded up; 0: 1
}

// known are the models of models.json. The file is part of the program.
var known = func() (models []Model) {
	if err := json.Unmarshal(modelsFile, &models); err != nil {
		panic("models.json: " + err.Error())
	}
	return models
}()

// unknown is used for models that models.json does not have.
var unknown = Model{Window: 8192, Response: 2048, Scale: 1.3}

// Find returns the model whose name is the longest prefix of the given name, ignoring case, a vendor before a slash,
// and "ft:". If no name is a prefix, ok is false and the model a small one.
func Find(name string) (m Model, ok bool) {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	name = strings.TrimPrefix(name, "ft:")
	for _, k := range known {
		if strings.HasPrefix(name, k.Name) && len(k.Name) > len(m.Name) {
			m, ok = k, true
		}
	}
	if !ok {
		return unknown, false
	}
	return m, true
}

// Reserve is the part of the window that is reserved for the answer: the model's
// longest answer, but at most a quarter.
func (m Model) Reserve() int { return min(m.Response, m.Window/4) }

// Estimated reports whether the model's encoding is not known.
func (m Model) Estimated() bool { return m.Encoding == "" }

// counter counts tokens as the model does, or estimates them.
func (m Model) counter() Counter {
	c := Counter{Encoding: m.Encoding, Scale: max(m.Scale, 1)}
	if m.Estimated() {
		c.Encoding = text.O200k
	}
	return c
}
