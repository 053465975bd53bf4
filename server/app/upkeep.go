package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/server/api"
	"hippocampus/server/config"
	"hippocampus/vectorstore/projection"
)

// startMending pushes everything again where the vector store is found empty,
// at once and later.
func startMending(ctx context.Context, keep *projection.Upkeep, life *lifecycle) error {
	if err := keep.Mend(ctx); err != nil {
		return fmt.Errorf("see whether the vector store is empty: %w", err)
	}
	life.run("mending", keep.Run)
	return nil
}

// proofs lists the upkeep of the vector store. Repairs and rebuilds are asked for.
func proofs(cfg config.Schedule, keep *projection.Upkeep) []jobs.Maintenance {
	return []jobs.Maintenance{
		upkeepOf(api.Verification, cfg.Verification, cfg.Timeout, keep.Verify),
		upkeepOf(api.Repair, "", cfg.Timeout, keep.Repair),
		upkeepOf(api.Rebuild, "", cfg.Timeout, keep.Rebuild),
	}
}

// drift shows the latest verification of this process as gauges.
type drift struct{ keep *projection.Upkeep }

var (
	driftGauge    = prometheus.NewDesc("hippocampus_vectors_drift", "Memories that the stores disagreed about at the latest verification of this process.", []string{"kind"}, nil)
	verifiedGauge = prometheus.NewDesc("hippocampus_vectors_verified_timestamp_seconds", "When this process last verified the stores, unix time.", nil, nil)
)

func (d drift) Describe(ch chan<- *prometheus.Desc) {
	ch <- driftGauge
	ch <- verifiedGauge
}

// Collect leaves the gauges out before the first verification.
func (d drift) Collect(ch chan<- prometheus.Metric) {
	r, ok := d.keep.Last()
	if !ok {
		return
	}
	for kind, n := range map[string]int{"missing": r.Missing.Count, "orphaned": r.Orphaned.Count, "different": r.Different.Count} {
		ch <- prometheus.MustNewConstMetric(driftGauge, prometheus.GaugeValue, float64(n), kind)
	}
	ch <- prometheus.MustNewConstMetric(verifiedGauge, prometheus.GaugeValue, float64(r.At.UnixMilli())/1000)
}

// Verify compares the stores of an installation, makes them equal where repair
// says so, and prints the report as JSON. KindConflict: they differ, and are
// left so.
func Verify(ctx context.Context, cfg config.Config, host Host, repair bool) error {
	return withUpkeep(ctx, cfg, host, func(keep *projection.Upkeep, _ db.ServingState) (any, error) {
		if repair {
			return keep.Repair(ctx)
		}
		report, err := keep.Verify(ctx)
		if n := report.Drift(); err == nil && n > 0 {
			err = memory.Errorf(memory.KindConflict, "the stores disagree about %d memories: run hippocampus verify --repair", n)
		}
		return report, err
	})
}

// Rebuild fills the vector store of an installation anew, while servers may
// run, and prints what it did as JSON.
func Rebuild(ctx context.Context, cfg config.Config, host Host) error {
	return withUpkeep(ctx, cfg, host, func(keep *projection.Upkeep, state db.ServingState) (any, error) {
		if !state.Settled() {
			return nil, memory.Errorf(memory.KindConflict,
				"memories are being re-embedded from %s to %s, which fills the vector store anew: rebuild it afterwards", state.Serving.Model, state.Target.Model)
		}
		return keep.Rebuild(ctx)
	})
}

// withUpkeep opens the stores for f, and prints what it returns.
func withUpkeep(ctx context.Context, cfg config.Config, host Host, f func(*projection.Upkeep, db.ServingState) (any, error)) (err error) {
	log := newLog(cfg.Log, host.Err)
	defer func() { _ = log.Sync() }()
	store, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if cfg.Database.Migrate {
		if err := store.Migrate(ctx); err != nil {
			return fmt.Errorf("migrate the database: %w", err)
		}
	}
	state, err := servingState(ctx, cfg, host, store, log)
	if err != nil {
		return err
	}
	vectors, _, err := openVectors(ctx, cfg, state.Serving, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, vectors.Close()) }()
	push := projection.New(store, vectors, ProjectionSettings(cfg), host.Now, log.Named("projection"))
	push.Serves(func() memory.Space { return state.Serving })
	result, err := f(projection.NewUpkeep(store, vectors, push, host.Now, log.Named("projection")), state)
	encoder := json.NewEncoder(host.Out)
	encoder.SetIndent("", "  ")
	return errors.Join(err, encoder.Encode(result))
}

// servingState says in which space the vectors are: what the database says, or
// as configured where no server has started yet.
func servingState(ctx context.Context, cfg config.Config, host Host, store *database, log *zap.Logger) (db.ServingState, error) {
	state, err := store.ServingState(ctx)
	if err != nil || state.Serving.Model != "" {
		return state, err
	}
	embedder, _, closeEmbedder, err := openEmbedder(ctx, cfg.Embedding, llmOptions(cfg.Chat, host.Now, log))
	if err != nil {
		return state, err
	}
	defer closeEmbedder()
	state.Serving = llm.SpaceOf(embedder)
	state.Target = state.Serving
	return state, nil
}

// asker enqueues upkeep for the API.
func asker(queue jobs.Enqueuer, now func() time.Time) func(context.Context, string) (db.JobInfo, error) {
	return func(ctx context.Context, kind string) (db.JobInfo, error) {
		return jobs.Ask(ctx, queue, kind, memory.Instant(now()))
	}
}
