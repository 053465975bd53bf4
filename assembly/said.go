package assembly

import (
	"slices"
	"strings"

	"hippocampus/conversation/session"
	"hippocampus/internal/memory"
)

// lastUserText is the start of the latest text of the user, or "".
func lastUserText(events []session.Event) string {
	for _, e := range slices.Backward(events) {
		if e.Role == "user" && e.Kind == memory.Chat && memory.CheckContent(e.Content, memory.MaxMessageBytes) == "" {
			return memory.Clip(e.Content, memory.MaxQueryRunes)
		}
	}
	return ""
}

// saidBefore is what the user said last before a query, and the answer to it.
func saidBefore(events []session.Event, query string) string {
	answer := ""
	for _, e := range slices.Backward(events) {
		switch {
		case e.Kind != memory.Chat:
		case e.Role == memory.RoleAssistant:
			answer = e.Content
		case e.Role != memory.RoleUser:
		case strings.TrimSpace(e.Content) == strings.TrimSpace(query):
			answer = "" // it is the answer to the query
		default:
			return strings.TrimSpace(memory.Clip(e.Content, mostSaidBefore) + " " + memory.Clip(answer, mostSaidBefore))
		}
	}
	return ""
}

// mostSaidBefore is how many characters of a message before a query matter.
const mostSaidBefore = 200
