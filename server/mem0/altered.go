package mem0

import (
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

// altered states which parts of a request are not kept as they were sent. mem0 has no such fields.
type altered struct {
	LeftOut []memory.Omission   `json:"left_out,omitempty"` // of the messages of a turn
	Secrets secrets             `json:"secrets,omitempty"`
	Cleaned []frame.CleanedText `json:"cleaned,omitempty"` // texts of the request
}

// secrets are what was cut out of a request and replaced by [secret].
type secrets []struct {
	Kind string `json:"kind"`
	Path string `json:"path"` // of the field
}

// at returns the secrets with another path in place of content, the field of /v1.
func (s secrets) at(path string) secrets {
	for i := range s {
		if s[i].Path == "content" {
			s[i].Path = path
		}
	}
	return s
}

// addTo adds what is known to an answer.
func (a altered) addTo(answer map[string]any) {
	if len(a.LeftOut) > 0 {
		answer["left_out"] = a.LeftOut
	}
	if len(a.Secrets) > 0 {
		answer["secrets"] = a.Secrets
	}
	if len(a.Cleaned) > 0 {
		answer["cleaned"] = a.Cleaned
	}
}

// written is a memory that a request has written.
type written struct {
	wire.Memory
	Secrets secrets `json:"secrets"`
}
