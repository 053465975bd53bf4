package dbtest

import (
	"fmt"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// examined checks that a page with a filter examines only the memories of the conversation or agent that the filter
// names.
func examined(t *testing.T, s db.Store) {
	var all []memory.Memory
	for i := range 40 {
		m := newMemory(alice, fmt.Sprintf("memory %d", i))
		m.CreatedAt = after(i)
		if i%10 == 0 {
			m.AgentID, m.ConversationID = "robot", "talk"
		}
		all = append(all, m)
	}
	insert(t, s, time.Time{}, all...)
	active := []memory.Status{memory.Active}
	for what, f := range map[string]db.MemoryFilter{
		"agent":                     {AgentID: "robot"},
		"agent's active ones":       {AgentID: "robot", Statuses: active},
		"conversation":              {ConversationID: "talk", Statuses: active},
		"conversation of the agent": {ConversationID: "talk", AgentID: "robot", Statuses: active},
	} {
		f.Owner, f.Limit, f.Where = alice, memory.MaxPage, where(t, `{"importance":{"gte":0}}`)
		for _, want := range []int{3, 1} {
			end, err := s.EndOfExamined(t.Context(), f, 3)
			must(t, err)
			f.DownTo = end
			page, err := s.ListMemories(t.Context(), f)
			must(t, err)
			if len(page) != want || (end == nil) != (want == 1) {
				t.Errorf("%s: a page of 3 examined has %d memories, want %d; more: %v", what, len(page), want, end != nil)
			}
			f.Before = end
		}
	}
}
