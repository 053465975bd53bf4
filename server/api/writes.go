package api

import (
	"context"
	"encoding/json"
	"net/http"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

type writeRequest struct {
	UserID         string          `json:"user_id"`
	Content        string          `json:"content"`
	Importance     *float64        `json:"importance"`
	Domain         memory.Domain   `json:"domain"`
	Type           memory.Type     `json:"type"`
	At             string          `json:"at"`
	ConversationID string          `json:"conversation_id"`
	AgentID        string          `json:"agent_id"`
	Tags           []string        `json:"tags"`
	Metadata       json.RawMessage `json:"metadata"`
	Pinned         bool            `json:"pinned"`
	Dedup          bool            `json:"dedup"`
}

// write makes the request a write to the key's app, and notes what is wrong with it.
func (b writeRequest) write(key memory.Key, c *checks) ingest.Write {
	c.note("content", memory.CheckContent(b.Content, memory.MaxContentRunes))
	c.note("tags", memory.CheckTags(b.Tags))
	c.places("", b.AgentID, b.ConversationID)
	return ingest.Write{
		Owner: c.owner("user_id", key, b.UserID), Content: b.Content,
		Importance: b.Importance, Domain: b.Domain, Type: b.Type, At: c.time("at", b.At),
		ConversationID: b.ConversationID, AgentID: b.AgentID, Tags: b.Tags,
		Metadata: c.metadata("metadata", b.Metadata), Pinned: b.Pinned, Dedup: b.Dedup,
	}
}

// writtenBody is the memory that holds a write.
type writtenBody struct {
	memoryBody
	Verdict memory.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
}

func (s *Server) postMemory(ctx context.Context, r *request) error {
	body, err := decode[writeRequest](r)
	if err != nil {
		return err
	}
	var c checks
	write := body.write(r.key, &c)
	if err := c.err(); err != nil {
		return err
	}
	written, err := s.Ingest.Write(ctx, write)
	if err != nil {
		return err
	}
	status := http.StatusOK // an older memory holds it
	if written.Verdict == memory.Kept {
		status = http.StatusCreated
	}
	return r.JSON(status, writtenBody{memoryOf(written.Memory), written.Verdict, written.Reason})
}

// resultBody is what became of one write of a batch: an id or an error.
type resultBody struct {
	ID      string         `json:"id,omitempty"`
	Verdict memory.Verdict `json:"verdict,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Error   *Problem       `json:"error,omitempty"`
}

// postBatch answers each write of a batch: what is wrong with one refuses that
// one alone.
func (s *Server) postBatch(ctx context.Context, r *request) error {
	body, err := decode[struct {
		Memories []json.RawMessage `json:"memories"`
	}](r)
	if err != nil {
		return err
	}
	results := make([]resultBody, len(body.Memories))
	var writes []ingest.Write
	var places []int
	for i, item := range body.Memories {
		write, err := r.batched(i, item)
		if err != nil {
			results[i] = refused(err)
			continue
		}
		writes, places = append(writes, write), append(places, i)
	}
	if len(writes) > 0 {
		for n, result := range s.Ingest.WriteBatch(ctx, writes) {
			if result.Err != nil {
				results[places[n]] = refused(result.Err)
				continue
			}
			w := result.Written
			results[places[n]] = resultBody{ID: w.Memory.ID, Verdict: w.Verdict, Reason: w.Reason}
		}
	}
	return r.JSON(http.StatusOK, map[string]any{"results": results})
}

// batched is the write at one place of a batch.
func (r *request) batched(place int, item json.RawMessage) (ingest.Write, error) {
	if faults := r.items[place]; faults != nil {
		return ingest.Write{}, memory.Invalid(faults...)
	}
	body, err := decodeJSON[writeRequest](item)
	if err != nil {
		return ingest.Write{}, err
	}
	var c checks
	write := body.write(r.key, &c)
	return write, c.err()
}

func refused(err error) resultBody {
	p := problemOf(err)
	return resultBody{Error: &p}
}
