package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
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
	Dedup          *bool           `json:"dedup"`
	ExpiresAt      string          `json:"expires_at"`
}

// write converts the request to a write to the key's app.
func (b writeRequest) write(key memory.Key, c *frame.Checks) ingest.Write {
	c.Note("content", memory.CheckContent(b.Content, memory.MaxContentRunes))
	c.Note("tags", memory.CheckTags(b.Tags))
	c.OptionalIDs("", b.AgentID, b.ConversationID)
	isSet := b.Dedup != nil
	return ingest.Write{
		Owner: c.Owner("user_id", key, b.UserID), Content: b.Content,
		Importance: b.Importance, Domain: b.Domain, Type: b.Type, At: c.Time("at", b.At),
		ConversationID: b.ConversationID, AgentID: b.AgentID, Tags: b.Tags,
		Metadata: c.Metadata("metadata", b.Metadata), Pinned: b.Pinned,
		Dedup: isSet && *b.Dedup, Alone: isSet && !*b.Dedup,
		Expires: c.Expiry("expires_at", b.ExpiresAt),
	}
}

// writtenBody is the memory that holds a write; it may have existed before.
type writtenBody struct {
	wire.Memory
	Verdict memory.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
	frame.Altered
}

func (h memoryHandlers) post(ctx context.Context, r *frame.Request, body writeRequest) (any, error) {
	write := body.write(r.Key, &r.Checks)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, write.Owner, write.ConversationID); err != nil {
		return nil, err
	}
	written, err := h.Writer.Write(ctx, write)
	status := http.StatusOK
	if written.Verdict == memory.Kept {
		status = http.StatusCreated
	}
	return frame.WithStatus(status, writtenBody{
		Memory: wire.MemoryOf(written.Memory), Verdict: written.Verdict, Reason: written.Reason, Altered: r.Altered,
	}), err
}

type batchRequest struct {
	Memories []json.RawMessage `json:"memories"`
}

// resultBody is the result of one write of a batch: an id or an error.
type resultBody struct {
	ID      string         `json:"id,omitempty"`
	Verdict memory.Verdict `json:"verdict,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	frame.Altered
	Error *frame.Problem `json:"error,omitempty"`
}

// postBatch answers each write of a batch separately: an invalid write does not
// affect the others.
func (h memoryHandlers) postBatch(ctx context.Context, r *frame.Request, body batchRequest) (any, error) {
	results := make([]resultBody, len(body.Memories))
	var writes []ingest.Write
	admitted := h.admitsOnce(ctx, r)
	var places []int // index in results of each element of writes
	for i, item := range body.Memories {
		write, err := batchWrite(r, i, item)
		if err == nil {
			err = admitted(write)
		}
		if memory.IsKind(err, memory.KindUnavailable) { // nothing was done: the other items would wait as long
			return nil, err
		}
		if err != nil {
			results[i].Error = frame.ProblemPointer(err)
			continue
		}
		writes, places = append(writes, write), append(places, i)
	}
	if len(writes) > 0 {
		written := h.Writer.WriteBatch(ctx, writes)
		if err := unavailable(frame.BodiesOf(written, func(r ingest.BatchResult) error { return r.Err })); err != nil {
			return nil, err
		}
		for n, result := range written {
			if result.Err != nil {
				results[places[n]].Error = frame.ProblemPointer(result.Err)
				continue
			}
			w := result.Written
			results[places[n]] = resultBody{
				ID: w.Memory.ID, Verdict: w.Verdict, Reason: w.Reason,
				Altered: r.AlteredIn(fmt.Sprintf("memories[%d]", places[n])),
			}
		}
	}
	return map[string]any{"results": results}, nil
}

// admitsOnce returns admitWrite for a batch, which reads the modes of each user and conversation once.
func (h memoryHandlers) admitsOnce(ctx context.Context, r *frame.Request) func(ingest.Write) error {
	type place struct {
		owner        memory.Owner
		conversation string
	}
	known := map[place]error{}
	return func(w ingest.Write) error {
		at := place{w.Owner, w.ConversationID}
		if _, ok := known[at]; !ok {
			known[at] = admitWrite(ctx, r, h.modes, w.Owner, w.ConversationID)
		}
		return known[at]
	}
}

// unavailable returns the first KindUnavailable of the items of a request if none of them succeeded, so that the client
// learns from the status of the answer that it may send the whole request again.
func unavailable(items []error) (first error) {
	for _, err := range items {
		switch {
		case err == nil:
			return nil
		case first == nil && memory.IsKind(err, memory.KindUnavailable):
			first = err
		}
	}
	return first
}

// batchWrite checks and converts one item of a batch.
func batchWrite(r *frame.Request, index int, item json.RawMessage) (ingest.Write, error) {
	if faults := r.Items[index]; faults != nil {
		return ingest.Write{}, memory.Invalid(faults...)
	}
	body, err := frame.Decode[writeRequest](item)
	if err != nil {
		return ingest.Write{}, err
	}
	var c frame.Checks
	write := body.write(r.Key, &c)
	return write, c.Err()
}
