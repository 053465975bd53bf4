package mem0

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
	"hippocampus/server/loopback"
)

// items returns the memories that a batch names, each with an id.
func (c *call) items() (items []fields, ids []string, err error) {
	list, err := listOf("memories", c.body["memories"])
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 || len(list) > mostOfBatch {
		return nil, nil, invalid("memories", "is not a list of 1 to %d memories", mostOfBatch)
	}
	for i, raw := range list {
		item, err := objectOf(fmt.Sprintf("memories[%d]", i), raw)
		if err != nil {
			return nil, nil, err
		}
		id, err := idOf(fmt.Sprintf("memories[%d].memory_id", i), item["memory_id"])
		if err != nil {
			return nil, nil, err
		}
		items, ids = append(items, item.withoutNulls()), append(ids, id)
	}
	return items, ids, nil
}

func batchUpdate(c *call) (any, error) {
	items, ids, err := c.items()
	if err != nil {
		return nil, err
	}
	var failures []failure
	done := altered{Cleaned: frame.CleanedIn(c)}
	for i, item := range items {
		changed, err := c.change(ids[i], item)
		done.Secrets = append(done.Secrets, changed.Secrets.at(fmt.Sprintf("memories[%d].text", i))...)
		var refused *loopback.Refusal
		switch {
		case err == nil:
		case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError:
			failures = append(failures, failure{ids[i], detail(refused.Problem)})
		default:
			return nil, err
		}
	}
	return batched("updated", len(items), failures, done)
}

func batchDelete(c *call) (any, error) {
	_, ids, err := c.items()
	if err != nil {
		return nil, err
	}
	failures, err := c.forget(ids, "statement")
	if err != nil {
		return nil, err
	}
	return batched("deleted", len(ids), failures, altered{})
}

// batched is the answer to a batch. If nothing succeeded, it is an error.
func batched(done string, count int, failures []failure, sent altered) (any, error) {
	if len(failures) == count {
		details := map[string]bool{}
		for _, f := range failures {
			details[f.Detail] = true
		}
		return nil, refuse(http.StatusNotFound, fmt.Sprintf("no memory was %s: %s",
			done, strings.Join(slices.Sorted(maps.Keys(details)), "; ")))
	}
	answer := message(fmt.Sprintf("Successfully %s %d memories", done, count-len(failures)))
	if len(failures) > 0 {
		answer["errors"] = failures
	}
	sent.addTo(answer)
	return answer, nil
}

// feedbacks are the values that mem0 allows, and what each is in /v1.
var feedbacks = map[string]memory.FeedbackKind{
	"POSITIVE": memory.FeedbackUsed, "NEGATIVE": memory.FeedbackIrrelevant, "VERY_NEGATIVE": memory.FeedbackWrong,
}

// feedback keeps the feedback on a memory, also in its metadata, or takes it back.
func feedback(c *call) (any, error) {
	id, err := idOf("memory_id", c.body["memory_id"])
	if err != nil {
		return nil, err
	}
	kind, err := c.body.text("feedback")
	if err != nil {
		return nil, err
	}
	if kind != "" && feedbacks[kind] == "" {
		return nil, invalid("feedback", "must be null or one of POSITIVE, NEGATIVE and VERY_NEGATIVE")
	}
	reason, err := c.body.text("feedback_reason")
	if err != nil {
		return nil, err
	}
	m, err := c.read(id)
	if err != nil {
		return nil, err
	}
	metadata := fields{}
	if m.Metadata != nil {
		if err := json.Unmarshal(m.Metadata, &metadata); err != nil {
			return nil, fmt.Errorf("read the metadata of memory %s: %w", id, err)
		}
	}
	delete(metadata, "feedback")
	delete(metadata, "feedback_reason")
	if kind != "" {
		metadata["feedback"] = quoted(kind)
	}
	if reason != "" {
		metadata["feedback_reason"] = quoted(reason)
	}
	given := map[string]any{"feedback": optional(string(feedbacks[kind]))}
	if err := c.ask(http.MethodPut, pathOf(id)+"/feedback", given, nil); err != nil {
		return nil, err
	}
	if err := c.ask(http.MethodPatch, pathOf(id), map[string]any{"metadata": metadata}, nil); err != nil {
		return nil, err
	}
	return map[string]any{"id": m.ID, "feedback": optional(kind), "feedback_reason": optional(reason)}, nil
}
