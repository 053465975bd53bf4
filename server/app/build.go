package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/server/api"
	"hippocampus/server/config"
)

// base has the values that every builder needs. A builder registers the parts that it starts in life.
type base struct {
	cfg  config.Config
	pace Pace
	now  func() time.Time
	life *lifecycle
	log  *zap.Logger
}

// waitFor runs f, which waits for a part that the start needs, and logs that if it
// takes longer than a second.
func (b base) waitFor(part string, f func() error) error {
	timer := time.AfterFunc(time.Second, func() { b.log.Info("the start waits for " + part) })
	defer timer.Stop()
	return f()
}

// server is ready to answer requests.
type server struct {
	handler *api.Server
	zoneOf  zones.Finder
	keys    db.Keys
	inUse   inUse
}

// inUse names the parts that the configuration selected, for people.
type inUse struct {
	database, vectors, embedder, scorer, router string

	standIn bool // embedder serves until the configured one answers

	metrics string // HOST:PORT of /metrics and /openapi.yaml; empty: that of the API
}

// build starts everything except HTTP, in the order of dependency.
func build(ctx context.Context, b base, wrap Wrap) (*server, error) {
	record, err := openRecord(ctx, b)
	if err != nil {
		return nil, err
	}
	models, err := openModels(ctx, b, record)
	if err != nil {
		return nil, err
	}
	stores, err := openStores(ctx, b, wrap, record, models)
	if err != nil {
		return nil, err
	}
	reading := openReading(b, stores, models)
	writing := openWriting(b, stores, models, reading)
	maintenance, err := openMaintenance(ctx, b, stores, models, reading, writing)
	if err != nil {
		return nil, err
	}
	handler, err := openAPI(b, stores, models, reading, writing, maintenance)
	if err != nil {
		return nil, err
	}
	observeParts(b, models, handler)
	return &server{handler: handler, zoneOf: stores.zones.Of, keys: record, inUse: inUse{
		database: record.name,
		vectors:  stores.vectorsName,
		embedder: models.embedderName + stores.embedderNote,
		scorer:   models.scorerName,
		standIn:  models.awaited != nil,
		router:   models.routerName,
	}}, nil
}
