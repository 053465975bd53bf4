package api

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"hippocampus/db"
	"hippocampus/forgetting"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// Forgetter forgets memories of low retention; package forgetting implements it.
type Forgetter interface {
	// Rule is the configured rule.
	Rule() forgetting.Rule
	// RuleFor is the configured rule with a user's active days.
	RuleFor(ctx context.Context, owner memory.Owner) (forgetting.Rule, error)
	Preview(ctx context.Context, owner memory.Owner, at time.Time, rule forgetting.Rule, list forgetting.Listing) (
		forgetting.Report, error)
	Run(ctx context.Context, owner memory.Owner, cause string, whole bool, list forgetting.Listing) (
		forgetting.Report, error)
	DueCounter
}

type forgetHandlers struct {
	forgetter Forgetter
	memories  MemoryReader
	now       func() time.Time
}

func (h forgetHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/forget", memory.RoleWrite, frame.WithBody(h.forget))
	r.Add("GET /v1/memories/:id/retention", memory.RoleRead, h.outlook)
}

const defaultFading = 100 // memories listed

type forgetRequest struct {
	UserID string          `json:"user_id"`
	DryRun *bool           `json:"dry_run"`
	At     string          `json:"at"`
	Rule   *ruleRequest    `json:"rule"`
	Limit  *int            `json:"limit"`
	Tags   []string        `json:"tags"`
	Filter json.RawMessage `json:"filter"`
	Whole  bool            `json:"whole"`
}

// ruleRequest changes the configured rule for a dry run.
type ruleRequest struct {
	Policy        *forgetting.Policy `json:"policy"`
	Threshold     *float64           `json:"threshold"`
	Base          *float64           `json:"base"`
	Growth        *float64           `json:"growth"`
	Lambda        *float64           `json:"lambda"`
	MinAgeSeconds *int64             `json:"min_age_seconds"`
	MaxShare      *float64           `json:"max_share"`

	Clock             *forgetting.Clock  `json:"clock"`
	MaxAbsenceSeconds *int64             `json:"max_absence_seconds"`
	Lasts             map[string]float64 `json:"lasts"`
	ExcludeTypes      *[]memory.Type     `json:"exclude_types"`
	ExcludeDomains    *[]memory.Domain   `json:"exclude_domains"`
	KeepTypes         *[]memory.Type     `json:"keep_types"`
	KeepImportance    *float64           `json:"keep_importance"`
}

// over returns the rule with the requested changes.
func (b ruleRequest) over(rule forgetting.Rule) forgetting.Rule {
	rule.Policy = frame.OrDefault(b.Policy, rule.Policy)
	rule.Threshold = frame.OrDefault(b.Threshold, rule.Threshold)
	rule.Base = frame.OrDefault(b.Base, rule.Base)
	rule.Growth = frame.OrDefault(b.Growth, rule.Growth)
	rule.Lambda = frame.OrDefault(b.Lambda, rule.Lambda)
	rule.MinAge = seconds(b.MinAgeSeconds, rule.MinAge)
	rule.MaxShare = frame.OrDefault(b.MaxShare, rule.MaxShare)
	rule.Clock = frame.OrDefault(b.Clock, rule.Clock)
	rule.MaxAbsence = seconds(b.MaxAbsenceSeconds, rule.MaxAbsence)
	if b.Lasts != nil {
		rule.Lasts = memory.FactorsOf(b.Lasts)
	}
	if b.ExcludeTypes != nil {
		rule.ExcludeTypes = forgetting.Of(*b.ExcludeTypes)
	}
	if b.ExcludeDomains != nil {
		rule.ExcludeDomains = forgetting.Of(*b.ExcludeDomains)
	}
	if b.KeepTypes != nil {
		rule.KeepTypes = forgetting.Of(*b.KeepTypes)
	}
	rule.KeepImportance = frame.OrDefault(b.KeepImportance, rule.KeepImportance)
	return rule
}

// seconds returns a duration that is given in whole seconds, or otherwise if it is absent.
func seconds(given *int64, otherwise time.Duration) time.Duration {
	if given == nil {
		return otherwise
	}
	return time.Duration(*given) * time.Second
}

type ruleBody struct {
	Policy        forgetting.Policy `json:"policy"`
	Threshold     float64           `json:"threshold"`
	Base          float64           `json:"base"`
	Growth        float64           `json:"growth"`
	Lambda        float64           `json:"lambda"`
	MinAgeSeconds int64             `json:"min_age_seconds"`
	MaxShare      float64           `json:"max_share"`

	Clock             forgetting.Clock   `json:"clock"`
	MaxAbsenceSeconds int64              `json:"max_absence_seconds"`
	Lasts             map[string]float64 `json:"lasts"`
	ExcludeTypes      []memory.Type      `json:"exclude_types"`
	ExcludeDomains    []memory.Domain    `json:"exclude_domains"`
	KeepTypes         []memory.Type      `json:"keep_types"`
	KeepImportance    float64            `json:"keep_importance"`
}

func ruleOf(r forgetting.Rule) ruleBody {
	return ruleBody{
		Policy: r.Policy, Threshold: r.Threshold, Base: r.Base, Growth: r.Growth, Lambda: r.Lambda,
		MinAgeSeconds: int64(r.MinAge / time.Second), MaxShare: r.MaxShare,
		Clock: cmp.Or(r.Clock, forgetting.WallClock), MaxAbsenceSeconds: int64(r.MaxAbsence / time.Second),
		Lasts:          r.Lasts.ByName(),
		ExcludeTypes:   forgetting.ListOf[memory.Type](r.ExcludeTypes),
		ExcludeDomains: forgetting.ListOf[memory.Domain](r.ExcludeDomains),
		KeepTypes:      forgetting.ListOf[memory.Type](r.KeepTypes), KeepImportance: r.KeepImportance,
	}
}

type forgetBody struct {
	DryRun    bool                `json:"dry_run"`
	At        time.Time           `json:"at"`
	Active    int                 `json:"active"`
	Due       int                 `json:"due"`
	DueByType map[memory.Type]int `json:"due_by_type"`
	Stopped   string              `json:"stopped,omitempty"`
	Warning   string              `json:"warning,omitempty"`
	Rule      ruleBody            `json:"rule"`
	Memories  []fadingBody        `json:"memories"`
	Forgotten []string            `json:"forgotten"`
}

type fadingBody struct {
	ID        string      `json:"id"`
	Content   string      `json:"content"`
	Type      memory.Type `json:"type"`
	Retention float64     `json:"retention"`
	FadesAt   time.Time   `json:"fades_at,omitzero"`
	Faded     bool        `json:"faded"`
}

func fadingOf(f forgetting.Listed) fadingBody {
	return fadingBody{
		ID: f.Memory.ID, Content: f.Memory.Content, Type: f.Memory.Type, Retention: f.Retention,
		FadesAt: memory.Instant(f.FadesAt), Faded: f.Faded,
	}
}

// forget lists the memories of a user that are due to be forgotten, and forgets
// them unless the request is a dry run.
func (h forgetHandlers) forget(ctx context.Context, r *frame.Request, body forgetRequest) (any, error) {
	owner, at := r.BodyOwner(body.UserID), r.Time("at", body.At)
	dry := frame.OrDefault(body.DryRun, true)
	if body.At != "" && !dry {
		r.Note("at", "is given without dry_run: only a preview can be of another time")
	}
	r.Note("tags", memory.CheckTags(body.Tags))
	if len(body.Tags) > 0 && !dry {
		r.Note("tags", "are given without dry_run: only what is listed can be chosen by tags")
	}
	rule := h.forgetter.Rule()
	if body.Rule != nil {
		rule = body.Rule.over(rule)
		r.Note("rule.lasts", rule.Lasts.Check())
		if !dry {
			r.Note("rule", "is given without dry_run: a run follows the server's settings")
		}
	}
	where := r.Where("filter", body.Filter)
	if where != nil && !dry {
		r.Note("filter", "is given without dry_run: only what is listed can be chosen by a filter")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if at.IsZero() {
		at = memory.Instant(h.now())
	}
	list := forgetting.Listing{Limit: frame.OrDefault(body.Limit, defaultFading), Tags: body.Tags, Where: where}
	var report forgetting.Report
	var err error
	if dry {
		report, err = h.forgetter.Preview(ctx, owner, at, rule, list)
	} else {
		report, err = h.forgetter.Run(ctx, owner, "api", body.Whole, list)
	}
	if body.Whole {
		report.Stopped, report.Warning = "", ""
	}
	return forgetBody{
		DryRun: dry, At: memory.Instant(report.At), Active: report.Active, Due: report.Due,
		DueByType: report.DueByType,
		Stopped:   report.Stopped, Warning: report.Warning, Rule: ruleOf(rule),
		Memories: frame.BodiesOf(report.Listed, fadingOf), Forgotten: frame.NotNil(report.Forgotten),
	}, err
}

// Eraser removes users from every store; package erasure implements it.
type Eraser interface {
	Erase(ctx context.Context, owner memory.Owner) (db.Erasure, error)
}

type eraseHandlers struct{ eraser Eraser }

func (h eraseHandlers) register(r *frame.Routes) {
	r.Add("DELETE /v1/users/:user_id", memory.RoleAdmin, h.erase)
}

type erasedBody struct {
	UserID      string    `json:"user_id"`
	RequestedAt time.Time `json:"requested_at"`
	FinishedAt  time.Time `json:"finished_at"`
	Deleted     db.Erased `json:"deleted"`
	Verified    bool      `json:"verified"` // always true, since an erasure ends only after checking every store
}

func (h eraseHandlers) erase(ctx context.Context, r *frame.Request) (any, error) {
	owner := r.Owner("path.user_id", r.Key, r.PathValue("user_id"))
	if err := r.Err(); err != nil {
		return nil, err
	}
	done, err := h.eraser.Erase(ctx, owner)
	return erasedBody{
		UserID: owner.UserID, RequestedAt: done.RequestedAt, FinishedAt: done.DoneAt, Deleted: done.Deleted, Verified: true,
	}, err
}
