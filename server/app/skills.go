package app

import (
	"time"

	"hippocampus/forgetting"
	"hippocampus/internal/llm"
	"hippocampus/knowledge/skills"
	"hippocampus/reflection"
	"hippocampus/router"
)

// openSkills makes the service that keeps what works.
func openSkills(store *database, embedder llm.Embedder, pusher skills.Pusher, reflect *reflection.Service, forget *forgetting.Service, now func() time.Time) *skills.Service {
	return skills.New(skills.Parts{
		Records: store, Embedder: embedder, Pusher: pusher, Guess: router.Guess, OnChanged: reflect.MemoriesChanged, OnAdded: forget.MemoriesAdded, Now: now,
	})
}
