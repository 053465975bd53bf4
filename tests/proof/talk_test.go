package proof

import (
	"fmt"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// turn sends a turn and waits until it is processed or the server crashes.
func turn(text string) func(p *plot) bool {
	return func(p *plot) bool {
		return p.turn(fields{"id": p.turnID(), "messages": []fields{{"role": "user", "content": text}}})
	}
}

// turnID is the client id of a plot's turn.
func (p *plot) turnID() string { return p.owner.UserID + "-turn" }

// talk sends the turns of a conversation, one after the other.
func talk(texts ...string) func(p *plot) bool {
	return func(p *plot) bool {
		for _, text := range texts {
			if !p.turn(fields{"conversation_id": "talk", "messages": []fields{{"role": "user", "content": text}}}) {
				return false
			}
		}
		return true
	}
}

// repeated sends a turn of a conversation, with an answer in which the assistant repeats the statement.
func repeated(text, answer string) func(p *plot) bool {
	return func(p *plot) bool {
		return p.turn(fields{"id": p.turnID(), "conversation_id": "talk", "messages": []fields{
			{"role": "user", "content": text}, {"role": "assistant", "content": answer},
		}})
	}
}

func (p *plot) turn(body fields) bool {
	body["user_id"] = p.owner.UserID
	r := p.try("POST", "/v1/turns", body)
	if !r.ok() {
		return false
	}
	p.await("the turn being processed", func() string {
		status, err := p.s.records.TurnStatus(p.t.Context(), p.owner.AppID, r.body["id"].(string))
		if err != nil || status != memory.TurnProcessed {
			return fmt.Sprint(status, err)
		}
		return ""
	})
	return true
}

// endTalk ends the conversation, and waits until it is consolidated or the server crashes.
func (p *plot) endTalk() bool {
	if r := p.try("POST", "/v1/conversations/talk/end", fields{"user_id": p.owner.UserID}); !p.done(r) {
		return false
	}
	p.await("the consolidation", func() string {
		list, err := p.s.records.ListConsolidations(p.t.Context(), db.ConsolidationFilter{
			Owner: p.owner, ConversationID: "talk", Limit: memory.MaxPage,
		})
		if err != nil {
			return err.Error()
		}
		for _, one := range list {
			if one.State == memory.ConsolidationPending {
				return fmt.Sprintf("%s is pending: %s", one.Type, one.Error)
			}
		}
		return ""
	})
	return !p.fuse().crashed()
}

// await waits until missing returns "", or the server crashes.
func (p *plot) await(what string, missing func() string) {
	eventually(p.t, what, func() string {
		if p.fuse().crashed() {
			return ""
		}
		return missing()
	})
}
