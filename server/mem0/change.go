package mem0

import (
	"fmt"
	"net/http"
	"slices"

	"hippocampus/server/frame"
)

// unchanged are fields of an update that /v1 cannot change.
var unchanged = map[string]string{
	"timestamp": "the time of a memory does not change",
}

// mostOfBatch is how many memories one request of mem0 may change.
const mostOfBatch = 1000

// forgotAtOnce is how many memories one request of /v1 may forget.
const forgotAtOnce = 500

func get(c *call) (any, error) {
	m, err := c.read(c.ids[0])
	return c.show(m), err
}

func update(c *call) (any, error) {
	m, err := c.change(c.ids[0], c.body)
	changed := c.show(m.Memory)
	changed.Secrets, changed.Cleaned = m.Secrets.at("text"), frame.CleanedIn(c)
	return changed, err
}

// change changes the text, the metadata and the shelf life of a memory.
func (c *call) change(id string, f fields) (m written, err error) {
	if err := f.refused(unchanged); err != nil {
		return m, err
	}
	change := map[string]any{}
	if f["text"] != nil {
		if change["content"], err = f.text("text"); err != nil {
			return m, err
		}
	}
	metadata, err := metadataOf(f)
	if err != nil {
		return m, err
	}
	if metadata != nil {
		change["metadata"] = metadata
	}
	if f["expiration_date"] != nil {
		if change["expires_at"], err = f.end(); err != nil {
			return m, err
		}
	}
	if len(change) == 0 {
		return m, invalid("text", "is missing, and so are metadata and expiration_date: an update changes one of them")
	}
	err = c.ask(http.MethodPatch, pathOf(id), change, &m)
	return m, err
}

func remove(c *call) (any, error) {
	if _, err := c.read(c.ids[0]); err != nil {
		return nil, err
	}
	path := pathOf(c.ids[0])
	if c.query.Get("delete_linked") == "false" {
		path += "?scope=item"
	}
	if err := c.ask(http.MethodDelete, path, nil, nil); err != nil {
		return nil, err
	}
	return message("Memory deleted successfully!"), nil
}

// message returns the answer to a change that has no other result.
func message(text string) map[string]any { return map[string]any{"message": text} }

func deleteAll(c *call) (any, error) {
	s, err := c.scopeOf(c.withQuery())
	if err != nil {
		return nil, err
	}
	memories, err := c.all(s, true)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(memories))
	for i, m := range memories {
		ids[i] = m.ID
	}
	if _, err := c.forget(ids, "item"); err != nil { // the request's filter states what is deleted
		return nil, err
	}
	return message(fmt.Sprintf("Memories deleted successfully! (%d)", len(ids))), nil
}

// failure is the error about one memory of several.
type failure struct {
	ID     string `json:"memory_id"`
	Detail string `json:"detail"`
}

// forget forgets memories, or what they state, and returns the failures.
func (c *call) forget(ids []string, scope string) (failures []failure, err error) {
	for some := range slices.Chunk(ids, forgotAtOnce) {
		var answer struct {
			Results []struct {
				ID    string `json:"id"`
				Error *struct {
					Detail string `json:"detail"`
				} `json:"error"`
			} `json:"results"`
		}
		request := map[string]any{"ids": some, "scope": scope}
		if err := c.ask(http.MethodPost, "/v1/memories/forget", request, &answer); err != nil {
			return nil, err
		}
		for _, result := range answer.Results {
			if result.Error != nil {
				failures = append(failures, failure{result.ID, result.Error.Detail})
			}
		}
	}
	return failures, nil
}
