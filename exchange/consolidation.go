package exchange

import (
	"context"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// consolidationLine is a finished consolidation, so that its events are not
// consolidated again.
type consolidationLine struct {
	conversationKey
	wire.Consolidation
}

var (
	triggers = []memory.ConsolidationTrigger{
		memory.TriggerImportant, memory.TriggerFull, memory.TriggerSchedule, memory.TriggerEnd, memory.TriggerIdle,
	}
	exportedConsolidations = []memory.ConsolidationState{memory.ConsolidationDone, memory.ConsolidationSkipped}
)

func consolidationLineOf(firstTurnID string, c memory.Consolidation) consolidationLine {
	c.Counts = compact(c.Counts)
	l := consolidationLine{conversationKey{c.UserID, c.ConversationID, firstTurnID}, wire.ConsolidationOf(c)}
	if c.Attempts == 0 {
		l.Attempts = nil
	}
	return l
}

func (l *consolidationLine) attempts() int {
	if l.Attempts == nil {
		return 0
	}
	return *l.Attempts
}

func (l *consolidationLine) consolidation(appID string) memory.Consolidation {
	return memory.Consolidation{
		ID: l.ID, Owner: memory.Owner{AppID: appID, UserID: l.UserID}, ConversationID: l.ConversationID,
		Type: l.Type, Trigger: l.Trigger, State: l.State, From: l.From, Through: l.Through, Counts: compact(l.Counts),
		Error: l.Error, Attempts: l.attempts(), CreatedAt: memory.Instant(l.CreatedAt),
		StartedAt: orInstant(l.StartedAt), EndedAt: orInstant(l.EndedAt),
	}
}

func (l *consolidationLine) kind() Kind { return Consolidations }

func (l *consolidationLine) check(f *faults) {
	l.conversationKey.check(f, "consolidation.")
	f.id("consolidation.id", l.ID)
	oneOf(f, "consolidation.type", memory.ConsolidationTypes, l.Type)
	oneOf(f, "consolidation.trigger", triggers, l.Trigger)
	oneOf(f, "consolidation.state", exportedConsolidations, l.State)
	inRange(f, "consolidation.through_event", l.Through, 1, maxNumber)
	inRange(f, "consolidation.from_event", l.From, 1, l.Through)
	f.note("consolidation.counts", memory.CheckMetadata(compact(l.Counts)))
	f.optionalText("consolidation.error", l.Error, maxError)
	inRange(f, "consolidation.attempts", l.attempts(), 0, maxNumber)
	f.time("consolidation.created_at", l.CreatedAt)
	f.optionalTime("consolidation.started_at", l.StartedAt)
	f.optionalTime("consolidation.ended_at", l.EndedAt)
}

func (l *consolidationLine) restore(ctx context.Context, i *importing, tx db.UserTx) (fresh bool, err error) {
	c := l.consolidation(i.appID)
	if err := l.requireEvent(ctx, tx, c.Through); err != nil {
		return false, err
	}
	stored, found, err := tx.RecordedConsolidation(ctx, c.ID)
	if err != nil || found {
		return false, orDifference(err, "consolidation "+c.ID,
			consolidationLineOf(l.FirstTurnID, c), consolidationLineOf(l.FirstTurnID, stored))
	}
	return true, idTaken(tx.PlanConsolidation(ctx, c), "a consolidation, or its place,")
}
