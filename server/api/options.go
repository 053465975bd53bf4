package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/assembly"
)

// Options holds what the API needs: its own settings, then the parts of each
// feature, which the feature's file declares. Required are the parts, Now and
// Logger; the zero value of any other field selects the default in its comment.
type Options struct {
	Access  Access
	Limits  Limits
	Metrics Metrics
	Checks  []Check // of /readyz
	Logger  *zap.Logger
	Now     func() time.Time

	Turns          TurnParts
	Conversations  ConversationParts
	Consolidations ConsolidationParts
	Memories       MemoryParts
	Related        Relater
	Facts          FactParts
	Instructions   InstructionParts
	Skills         SkillParts
	Candidates     CandidateParts
	Recall         RecallParts
	Condenser      assembly.Condenser
	Reflector      Reflector
	Forgetter      Forgetter
	Compressor     Compressor
	Eraser         Eraser
	Stats          StatsParts
	Exchange       Exchanger
	Events         EventParts
	Webhooks       WebhookKeeper
	Jobs           JobParts
}

// Access decides who may use the API, and how often.
type Access struct {
	Keys      KeyFinder     // nil only with Dev
	Dev       bool          // no keys: every request comes from an admin of the app DevApp
	KeyTTL    time.Duration // how long a key is cached, and so how long a revoked key may still work; 0: 5 s
	RateLimit float64       // requests per second and key; 0: unlimited
	RateBurst int           // requests at once per key; 0: those of two seconds
}

// Limits bounds the size and the duration of requests.
type Limits struct {
	Body   int64         // bytes of a body; 0: 1 MiB
	Batch  int64         // bytes of the body of a batch; 0: 16 MiB
	Wait   time.Duration // how long a write with `wait` waits; 0: 30 s
	Work   time.Duration // of any request except streams; 0: 2 min
	Stream time.Duration // how long a stream may transfer nothing; 0: 1 min
}

// Metrics registers and serves metrics.
type Metrics struct {
	Registerer prometheus.Registerer // of the request metrics; nil: a new registry
	Gatherer   prometheus.Gatherer   // what /metrics serves; nil: Registerer, if it is also a Gatherer
}

// withDefaults returns the options with every default filled in.
func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Access.KeyTTL, 5*time.Second)
	setDefault(&o.Limits.Body, 1<<20)
	setDefault(&o.Limits.Batch, 16<<20)
	setDefault(&o.Limits.Wait, 30*time.Second)
	setDefault(&o.Limits.Work, 2*time.Minute)
	setDefault(&o.Limits.Stream, time.Minute)
	setDefault(&o.Recall.Limit, defaultRecall)
	setDefault(&o.Events.Streams, 16)
	setDefault(&o.Events.Heartbeat, 15*time.Second)
	if wait, work := o.Limits.Wait, o.Limits.Work; wait >= work {
		return o, fmt.Errorf("the wait timeout %s must be shorter than the request timeout %s", wait, work)
	}
	if o.Access.Keys == nil && !o.Access.Dev {
		return o, errors.New("keys are required unless authentication is off")
	}
	return o, nil
}

// setDefault gives a setting its default if it is zero.
func setDefault[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}
