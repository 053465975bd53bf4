package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hippocampus/assembly"
)

// Options holds what the API needs: its own settings, then the parts of each
// feature, which the feature's file declares. Required are the parts, Now and
// Logger; the zero value of any other field selects the default in its comment.
type Options struct {
	Access Access
	Wait   time.Duration // how long a write with `wait` waits; 0: 30 s
	// Origins are those whose pages may call the API in a browser, such as https://chat.example.com; nil: only its own.
	Origins []string
	// MaxInflight is how many recalls and contexts run at a time; 0: 64.
	MaxInflight int
	// KeepSecrets says that secrets are not cut out of what requests say.
	KeepSecrets bool
	Quotas      Quotas
	Metrics     Metrics
	Checks      []Check // of /readyz
	Logger      *zap.Logger
	Now         func() time.Time

	Turns          TurnParts
	Conversations  ConversationParts
	Consolidations ConsolidationParts
	Memories       MemoryParts
	Related        Relater
	Facts          FactParts
	Instructions   InstructionParts
	Skills         SkillParts
	MemoryTool     MemoryToolParts
	Candidates     CandidateParts
	Recall         RecallParts
	Condenser      assembly.Condenser
	Reflector      Reflector
	Forgetter      Forgetter
	Compressor     Compressor
	Eraser         Eraser
	Users          UserLister
	Zones          ZoneKeeper
	Stats          StatsParts
	Exchange       Exchanger
	Events         EventParts
	Webhooks       WebhookKeeper
	Jobs           JobParts
	Keys           KeyKeeper
	State          StateParts
	Mounts         []Mount      // of other protocols
	Documentation  http.Handler // of /docs and below, pages for people, which need no key; nil: they are not served
	Console        http.Handler // of /console/, which needs no key itself; nil: it is not served

	limits limits // zero: those of every server
}

// Access decides who may use the API, and how often.
type Access struct {
	Keys      KeyFinder     // nil only with Dev
	Dev       bool          // no keys: every request comes from an admin of the app DevApp
	KeyTTL    time.Duration // how long a key is cached, and so how long a revoked key may still work; 0: 5 s
	RateLimit float64       // requests per second and key; 0: unlimited
	Failures  int           // of authentication, per minute and address, and at once; 0: unlimited
	RateBurst int           // requests at once per key; 0: those of two seconds
}

// limits bounds the size and the duration of requests.
type limits struct {
	body   int64         // bytes of a body
	batch  int64         // bytes of the body of a batch
	work   time.Duration // of any request except streams
	stream time.Duration // how long a stream may transfer nothing
}

// Metrics registers and serves metrics.
type Metrics struct {
	Registerer prometheus.Registerer // of the request metrics; nil: a new registry
	Gatherer   prometheus.Gatherer   // what /metrics serves; nil: Registerer, if it is also a Gatherer
	Apart      bool                  // Server.Documents alone serves /metrics and /openapi.yaml, which need no key
}

// withDefaults returns the options with every default filled in.
func (o Options) withDefaults() (Options, error) {
	o.Access.KeyTTL = cmp.Or(o.Access.KeyTTL, 5*time.Second)
	o.Wait = cmp.Or(o.Wait, 30*time.Second)
	o.limits.body = cmp.Or(o.limits.body, 1<<20)
	o.limits.batch = cmp.Or(o.limits.batch, 16<<20)
	o.limits.work = cmp.Or(o.limits.work, 2*time.Minute)
	o.limits.stream = cmp.Or(o.limits.stream, time.Minute)
	o.MaxInflight = cmp.Or(o.MaxInflight, 64)
	o.Recall.Limit = cmp.Or(o.Recall.Limit, defaultRecall)
	o.Events.Streams = cmp.Or(o.Events.Streams, 16)
	o.Events.Heartbeat = cmp.Or(o.Events.Heartbeat, 15*time.Second)
	if o.Wait >= o.limits.work {
		return o, fmt.Errorf("the wait timeout %s must be shorter than the request timeout %s", o.Wait, o.limits.work)
	}
	if o.Access.Keys == nil && !o.Access.Dev {
		return o, errors.New("keys are required unless authentication is off")
	}
	return o, nil
}
