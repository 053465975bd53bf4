package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
)

// A data folder of the version whose built-in embedder hashed words serves at
// once, and is re-embedded with the built-in model.
func TestReembedding_ReplacesHashedVectors(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		hashing := llmtest.New(t) // computes the vectors of the hashed embedder
		hashing.SetDim(llm.HashedDim)
		s := start(t, slices.Concat(size.settings(t), []string{"HIPPOCAMPUS_PROJECTION_GRACE=1s",
			"QWEN_API_KEY=key", "QWEN_API_BASE=" + hashing.URL(), "MEMORY_EMBEDDING_MODEL=" + llm.HashedModel})...)
		for _, content := range []string{
			"Ann adopted a puppy last spring.", "Ann painted the kitchen blue.", "Tom drives a tram in Oslo.",
		} {
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content}, 201)
		}
		s.stop()

		s.env = append(s.env, "QWEN_API_KEY=")
		s.run()
		s.settledOn(builtin)
		eventually(t, "dog finding puppy", func() string {
			found := s.call("POST", "/v1/recall",
				object{"user_id": "ada", "query": "Who has a dog?", "limit": 1, "touch": false, "route": false},
				200).list("memories")
			if len(found) == 0 || !strings.Contains(contents(found)[0], "puppy") {
				return fmt.Sprint(found)
			}
			return ""
		})
	})
}
