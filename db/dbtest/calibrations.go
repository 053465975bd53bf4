package dbtest

import (
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// calibrations keeps the first calibration of each space.
func calibrations(t *testing.T, s db.Store) {
	ctx := t.Context()
	space, wider := memory.Space{Model: "m", Dim: 4}, memory.Space{Model: "m", Dim: 8}
	none, err := s.Calibration(ctx, space)
	must(t, err)
	wantSame(t, "before the first", none, memory.Calibration{})
	first := memory.Calibration{
		English: memory.SimilarityRange{Unrelated: -0.125, Related: 0.5, Floor: -0.25},
		Chinese: memory.SimilarityRange{Unrelated: 0.25, Related: 0.75, Floor: 0.375},
	}
	for _, c := range []memory.Calibration{first, {}} {
		kept, err := s.KeepCalibration(ctx, space, c)
		must(t, err)
		wantSame(t, "what is kept", kept, first)
	}
	found, err := s.Calibration(ctx, space)
	must(t, err)
	wantSame(t, "what is read", found, first)
	other, err := s.Calibration(ctx, wider)
	must(t, err)
	wantSame(t, "another dimension", other, memory.Calibration{})
}
