package api

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"hippocampus/assembly"
	"hippocampus/server/frame"
)

// Options holds what the API needs: its own settings, then the parts of each
// feature, which the feature's file declares. Required are the parts, Now and
// Logger; the zero value of any other field selects the default in its comment.
type Options struct {
	Access frame.Access
	Wait   time.Duration // how long a write with `wait` waits; 0: 30 s
	// Origins lists the origins whose pages may call the API in a browser, such as https://chat.example.com; nil: only its
	// own.
	Origins []string
	// MaxInflight is how many recalls and contexts run at a time; 0: 64.
	MaxInflight       int
	MaxInflightTurns  int // how many turns are stored at a time; 0: 64
	MaxInflightWrites int // how many direct writes run at a time; 0: 64
	// KeepSecrets leaves secrets in the texts of requests.
	KeepSecrets bool
	Quotas      Quotas
	Metrics     frame.Metrics
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
	Policies       PolicyParts
	Profiles       ProfileParts
	Documents      DocumentParts
	Reprocess      ReprocessParts
	Skills         SkillParts
	MemoryTool     MemoryToolParts
	Candidates     CandidateParts
	Recall         RecallParts
	Pool           PoolParts
	Thresholds     ThresholdKeeper
	Learning       bool // thresholds follow what users keep, forget and use
	Condenser      assembly.Condenser
	Reflector      Reflector
	Proposals      ProposalParts
	Forgetter      Forgetter
	Compressor     Compressor
	Eraser         Eraser
	Merger         Merger
	Users          UserLister
	Zones          ZoneKeeper
	Modes          ModeKeeper
	Stats          StatsParts
	Exchange       Exchanger
	Events         EventParts
	Webhooks       WebhookKeeper
	Jobs           JobParts
	Keys           KeyKeeper
	State          StateParts
	Mounts         []frame.Mount // of other protocols
	Documentation  http.Handler  // of /docs and below, pages for people, which need no key; nil: they are not served
	Console        http.Handler  // of /console/, which needs no key itself; nil: it is not served

	limits frame.Limits // zero: those of every server
}

// withDefaults returns the options with every default filled in.
func (o Options) withDefaults() (Options, error) {
	o.Wait = cmp.Or(o.Wait, 30*time.Second)
	o.limits = o.limits.WithDefaults()
	o.MaxInflight = cmp.Or(o.MaxInflight, 64)
	o.MaxInflightTurns = cmp.Or(o.MaxInflightTurns, 64)
	o.MaxInflightWrites = cmp.Or(o.MaxInflightWrites, 64)
	o.Recall.Limit = cmp.Or(o.Recall.Limit, defaultRecall)
	o.Events.Streams = cmp.Or(o.Events.Streams, 16)
	o.Events.Heartbeat = cmp.Or(o.Events.Heartbeat, 15*time.Second)
	if o.Wait >= o.limits.Work {
		return o, fmt.Errorf("the wait timeout %s must be shorter than the request timeout %s", o.Wait, o.limits.Work)
	}
	return o, nil
}
