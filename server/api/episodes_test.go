package api

import (
	"hippocampus/internal/memory"
	"hippocampus/reflection/episodes"
)

// episodes groups the memories of the fixture, whose embedder is not calibrated.
func (f *fixture) episodes() *episodes.Service {
	return episodes.New(episodes.Parts{
		Records: f.store, Embedder: embedder, Now: f.now,
		Calibration: func(memory.Space) memory.Calibration { return memory.Calibration{} },
	})
}
