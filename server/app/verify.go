package app

import (
	"context"
	"encoding/json"
	"errors"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
	"hippocampus/vectorstore/projection"
)

// Verify compares the stores of an installation, makes them equal if repair is
// set, and prints the report as JSON. KindConflict: they differ and were not
// repaired.
func Verify(ctx context.Context, cfg config.Config, host Host, repair bool) error {
	return withProjection(ctx, cfg, host, func(
		ctx context.Context, p *projection.Maintenance, _ db.ServingState,
	) (any, error) {
		if repair {
			return p.Repair(ctx)
		}
		report, err := p.Verify(ctx)
		if n := report.Drift(); err == nil && n > 0 {
			err = memory.Errorf(memory.KindConflict,
				"the stores disagree about %d memories: run hippocampus verify --repair", n)
		}
		return report, err
	})
}

// Rebuild fills the vector store of an installation again, while servers may
// run, and prints its report as JSON.
func Rebuild(ctx context.Context, cfg config.Config, host Host) error {
	return withProjection(ctx, cfg, host, func(
		ctx context.Context, p *projection.Maintenance, state db.ServingState,
	) (any, error) {
		if !state.Settled() {
			return nil, memory.Errorf(memory.KindConflict,
				"memories are being re-embedded from %s to %s, which fills the vector store again: rebuild it afterwards",
				state.Serving.Model, state.Target.Model)
		}
		return p.Rebuild(ctx)
	})
}

// withProjection opens the stores for f and prints its result.
func withProjection(ctx context.Context, cfg config.Config, host Host,
	f func(context.Context, *projection.Maintenance, db.ServingState) (any, error)) (err error) {
	log := newLog(cfg.Log, host.Err)
	defer func() { _ = log.Sync() }()
	life := newLifecycle(log, cfg.API.ShutdownTimeout)
	defer func() { err = errors.Join(err, life.stop()) }()
	b := base{cfg: cfg, now: host.Now, log: log, life: life}
	return withDatabase(ctx, cfg, log, func(record *database) (err error) {
		state, err := servingState(ctx, b, record)
		if err != nil {
			return err
		}
		vectors, _, err := openVectors(ctx, cfg, state.Serving, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, vectors.Close()) }()
		projectionLog := log.Named("projection")
		push := projection.New(record, vectors, ProjectionSettings(cfg, standardPace), host.Now, projectionLog)
		push.SetSpace(func() memory.Space { return state.Serving })
		if host.OnProgress != nil {
			ctx = jobs.OnProgress(ctx, func(noted any) {
				if p, ok := noted.(projection.Progress); ok {
					host.OnProgress(p.Progress())
				}
			})
		}
		result, err := f(ctx, projection.NewMaintenance(record, vectors, push, host.Now, projectionLog), state)
		encoder := json.NewEncoder(host.Out)
		encoder.SetIndent("", "  ")
		return errors.Join(err, encoder.Encode(result))
	})
}

// servingState returns the embedding space of the vectors from the database, or
// the configured one if no server has started yet.
func servingState(ctx context.Context, b base, record *database) (db.ServingState, error) {
	state, err := record.ServingState(ctx)
	if err != nil || state.Serving.Model != "" {
		return state, err
	}
	m := &models{}
	if err := m.openEmbedder(ctx, b, record); err != nil {
		return state, err
	}
	state.Serving = llm.SpaceOf(m.embedder)
	state.Target = state.Serving
	return state, nil
}
