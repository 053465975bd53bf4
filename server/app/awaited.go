package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/internal/llm"
)

// errUnknownDimension says that an embedding model has not answered, and that neither the settings nor the database
// have the dimension of its vectors.
var errUnknownDimension = errors.New("the first start needs its dimension: start again when it answers, " +
	"or set embedding.dimension to the length of its vectors")

// isAwaited reports whether the server can start without the embedding model that returned err: its endpoint does not
// work, and no setting has to be corrected.
func isAwaited(err error) bool {
	return errors.Is(err, errUnknownDimension) && llm.CauseOf(err) == llm.CauseUnavailable
}

// awaitedEmbedder is the configured embedding model of a server that started while the dimension of its vectors was
// unknown:
//
//	the built-in embedder serves -> the endpoint answers -> its space is the target (reembed) -> it serves
type awaitedEmbedder struct {
	base   base
	health *llm.Health
	meter  llm.Meter

	mu     sync.Mutex
	opened llm.Embedder // nil: the endpoint has not answered
}

// run opens the model and passes it to adopt. It tries again until both succeed.
func (a *awaitedEmbedder) run(ctx context.Context, adopt func(context.Context, llm.Embedder) error) {
	ticker := time.NewTicker(observeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		e, err := a.open(ctx)
		if err != nil {
			continue // health has the reason
		}
		if err = adopt(ctx, e); err == nil {
			return
		}
		a.base.log.Warn("the embedding model cannot serve yet; it is tried again", zap.Error(err))
	}
}

// open opens the model if it is not open. It is closed when ctx ends.
func (a *awaitedEmbedder) open(ctx context.Context) (llm.Embedder, error) {
	if e := a.embedder(); e != nil {
		return e, nil
	}
	client, e, err := openRemoteEmbedder(ctx, a.base, a.base.cfg.Embedding, a.health, a.meter)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, client.Close)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened = e
	return e, nil
}

func (a *awaitedEmbedder) embedder() llm.Embedder {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.opened
}

// probe updates the health of the model once it is open; until then, run does.
func (a *awaitedEmbedder) probe(ctx context.Context) {
	if e := a.embedder(); e != nil {
		_, _ = e.Embed(ctx, llm.ForQuery, []string{"ready"})
	}
}
