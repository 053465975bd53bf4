package mem0

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// unkept are fields of an addition that ask for ways of keeping memories that /v1 does not have.
var unkept = map[string]string{
	"custom_instructions": "keep.instructions of PUT /v1/policy says it for the whole app",
	"custom_categories":   "categories of PUT /v1/policy says it for the whole app",
	"prompt":              "the prompts of the server decide what is kept, see docs/prompts.md",
	"includes":            "keep.instructions of PUT /v1/policy says it for the whole app",
	"excludes":            "never.instructions of PUT /v1/policy says it for the whole app",
	"immutable":           "memories stay as they are unless a request or the server's gate changes them",
	"memory_type":         "POST /v1/instructions and PUT /v1/facts keep other kinds of knowledge",
}

// turn has the fields of a turn of /v1 that the answers need.
type turn struct {
	ID         string            `json:"id"`
	UserID     string            `json:"user_id"`
	Status     memory.TurnStatus `json:"status"`
	Attempts   int               `json:"attempts"`
	LastError  string            `json:"last_error"`
	AcceptedAt time.Time         `json:"accepted_at"`
	Processed  time.Time         `json:"processed_at"` // zero: it waits
	Metadata   json.RawMessage   `json:"metadata"`
	altered
	Candidates []struct {
		Content  string         `json:"content"`
		Verdict  memory.Verdict `json:"verdict"`
		MemoryID string         `json:"memory_id"`
	} `json:"candidates"`
}

// The states of an addition.
const (
	pending   = "PENDING"
	succeeded = "SUCCEEDED"
)

// outcome is the outcome of one memory.
type outcome struct {
	ID    string            `json:"id"`
	Text  string            `json:"memory"`
	Data  map[string]string `json:"data"` // the text again, as mem0's platform has it
	Event string            `json:"event"`
}

func outcomeOf(id, text, event string) outcome {
	return outcome{ID: id, Text: text, Data: map[string]string{"memory": text}, Event: event}
}

// added is the answer to an addition.
type added struct {
	Message string    `json:"message"`
	Status  string    `json:"status"`
	EventID string    `json:"event_id,omitempty"`
	Results []outcome `json:"results"`
	altered
}

func add(c *call) (any, error) {
	if err := c.body.refused(unkept); err != nil {
		return nil, err
	}
	infer, err := c.body.flag("infer", true)
	if err != nil {
		return nil, err
	}
	// The older APIs answer once the memories exist, unless the request asks not to wait.
	async, err := c.body.flag("async_mode", c.form == v3)
	if err != nil {
		return nil, err
	}
	about, err := c.about()
	if err != nil {
		return nil, err
	}
	messages, err := c.messages()
	if err != nil {
		return nil, err
	}
	var done added
	if infer {
		done, err = c.addTurn(about, messages, !async)
	} else {
		done, err = c.addMemories(about, messages)
	}
	done.Cleaned = frame.CleanedIn(c)
	switch {
	case err != nil:
		return nil, err
	case c.form == v3:
		return done, nil
	case done.Status == pending:
		return c.results([]added{done}), nil
	}
	answer := c.results(done.Results)
	if object, ok := answer.(map[string]any); ok {
		done.altered.addTo(object)
	}
	return answer, nil
}

// about returns what the messages of an addition have in common, as fields of /v1.
func (c *call) about() (map[string]any, error) {
	ids, err := c.named()
	if err != nil {
		return nil, err
	}
	about := map[string]any{"user_id": ids["user_id"]}
	if ids["agent_id"] != "" {
		about["agent_id"] = ids["agent_id"]
	}
	if ids["run_id"] != "" {
		about["conversation_id"] = ids["run_id"]
	}
	metadata, err := metadataOf(c.body)
	if err != nil {
		return nil, err
	}
	if metadata != nil {
		about["metadata"] = metadata
	}
	if c.body["expiration_date"] != nil {
		if about["expires_at"], err = c.body.end(); err != nil {
			return nil, err
		}
	}
	if raw := c.body["timestamp"]; raw != nil {
		if about["at"], err = timeOf("timestamp", raw); err != nil {
			return nil, err
		}
	}
	return about, nil
}

// addTurn sends the messages through the gate.
func (c *call) addTurn(about map[string]any, messages []map[string]any, wait bool) (added, error) {
	about["messages"], about["wait"] = messages, wait
	var t turn
	if err := c.ask(http.MethodPost, "/v1/turns", about, &t); err != nil {
		return added{}, err
	}
	switch t.Status {
	case memory.TurnProcessed, memory.TurnWithdrawn:
		return added{
			Message: "The messages were processed.", Status: succeeded, EventID: t.ID, Results: t.outcomes(), altered: t.altered,
		}, nil
	case memory.TurnFailed:
		return added{}, refuse(http.StatusServiceUnavailable, fmt.Sprintf(
			"the messages are kept but could not be processed (%s): POST /v1/turns/%s/replay tries again", t.LastError, t.ID))
	}
	return added{
		Message: "Memory processing has been queued for background execution", Status: pending, EventID: t.ID,
		Results: []outcome{}, altered: t.altered,
	}, nil
}

// outcomes returns the outcomes of the facts of a turn.
func (t turn) outcomes() []outcome {
	list := []outcome{}
	for _, candidate := range t.Candidates {
		switch candidate.Verdict {
		case memory.Kept:
			list = append(list, outcomeOf(candidate.MemoryID, candidate.Content, "ADD"))
		case memory.Merged:
			list = append(list, outcomeOf(candidate.MemoryID, candidate.Content, "UPDATE"))
		case memory.Duplicate:
			list = append(list, outcomeOf(candidate.MemoryID, candidate.Content, "NONE"))
		}
	}
	return list
}

// addMemories stores each message unchanged, except for system messages.
func (c *call) addMemories(about map[string]any, messages []map[string]any) (added, error) {
	done := added{Message: "The messages were stored.", Status: succeeded, Results: []outcome{}}
	for i, said := range messages {
		path := "messages[" + strconv.Itoa(i) + "].content"
		raw, _ := said["content"].(jsontext.Value)
		content, ok := stringOf(raw)
		if role, _ := said["role"].(jsontext.Value); string(role) == `"system"` {
			continue
		}
		if !ok {
			return added{}, invalid(path, "is not a text, and with infer=false each text is stored as it is")
		}
		write := maps.Clone(about)
		write["content"] = content
		if at := said["at"]; at != nil {
			write["at"] = at
		}
		var m written
		if err := c.ask(http.MethodPost, "/v1/memories", write, &m); err != nil {
			return added{}, within(fmt.Sprintf("messages[%d], after %d were stored: ", i, len(done.Results)), err)
		}
		done.Results = append(done.Results, outcomeOf(m.ID, m.Content, "ADD"))
		done.Secrets = append(done.Secrets, m.Secrets.at(path)...)
	}
	return done, nil
}
