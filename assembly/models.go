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
	Name     string        `json:"model"`    // what its name begins with
	Window   int           `json:"window"`   // tokens of prompt and answer together
	Response int           `json:"response"` // tokens of an answer, at most
	Encoding text.Encoding `json:"encoding"` // its own; empty: not public, and o200k_base times Scale is an estimate
	Scale    float64       `json:"scale"`    // its tokens for one of the encoding, on the safe side; 0: 1
}

// known are the models of models.json. The file is part of the program.
var known = func() (models []Model) {
	if err := json.Unmarshal(modelsFile, &models); err != nil {
		panic("models.json: " + err.Error())
	}
	return models
}()

// unknown stands for a model that models.json does not have.
var unknown = Model{Window: 8192, Response: 2048, Scale: 1.3}

// Find returns the model whose name is the longest beginning of this one,
// whatever its case, and without a vendor before a slash or "ft:"; ok is false,
// and the model a small one, where none is.
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

// Reserve is how much of the window is kept for the answer: what the model
// answers at most, but no more than a quarter.
func (m Model) Reserve() int { return min(m.Response, m.Window/4) }

// Estimated reports whether the model's own tokens are not known.
func (m Model) Estimated() bool { return m.Encoding == "" }

// counter measures as the model does, or estimates it.
func (m Model) counter() Counter {
	c := Counter{Encoding: m.Encoding, Scale: max(m.Scale, 1)}
	if m.Estimated() {
		c.Encoding = text.O200k
	}
	return c
}
