package assembly

import (
	"cmp"
	"slices"

	"hippocampus/conversation/session"
)

// forTurn makes of a request one for its Turn, if it has one: what the user says last in the turn is the query, and
// nothing of the turn is in the context. It returns the events of the conversation without those of the turn.
func (r *Request) forTurn(events []session.Event) []session.Event {
	if r.Turn == nil {
		return events
	}
	r.Query.WithoutTurn = r.Turn.ID
	r.Query.Text = cmp.Or(r.Query.Text, lastUserText(session.EventsOf(*r.Turn)))
	return slices.DeleteFunc(slices.Clone(events), func(e session.Event) bool { return e.TurnID == r.Turn.ID })
}
