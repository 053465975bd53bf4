package mem0

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// mostSeconds is the largest number that is a time in Unix seconds; larger ones are milliseconds.
const mostSeconds = 1e11

// messages returns the messages of an addition with the fields that /v1 knows. A text is a message of the user.
func (c *call) messages() ([]map[string]any, error) {
	raw := c.body["messages"]
	var list []jsontext.Value
	switch raw.Kind() {
	case '"':
		return []map[string]any{{"role": "user", "content": raw}}, nil
	case '{':
		list = []jsontext.Value{raw}
	default:
		var err error
		if list, err = listOf("messages", raw); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, invalid("messages", "is empty: send at least one message")
	}
	messages := make([]map[string]any, len(list))
	for i, item := range list {
		said, err := objectOf(fmt.Sprintf("messages[%d]", i), item)
		if err != nil {
			return nil, err
		}
		messages[i] = messageOf(said.withoutNulls())
	}
	return messages, nil
}

// messageOf returns a message with the fields that /v1 knows.
func messageOf(said fields) map[string]any {
	message := map[string]any{}
	for _, name := range []string{"role", "content", "name"} {
		if value := said[name]; value != nil {
			message[name] = value
		}
	}
	if part, ok := message["content"].(jsontext.Value); ok && part.Kind() == '{' {
		message["content"] = []jsontext.Value{part} // an image without a list around it
	}
	if at := saidAt(said["timestamp"]); at != "" {
		message["at"] = at
	}
	return message
}

// saidAt returns the time of a message in RFC 3339, from the forms of timeOf and Unix milliseconds. mem0's messages
// have no time, so that its clients may send anything in this field: for a value that is not a time it returns "", and
// the field is ignored like an unknown one.
func saidAt(raw jsontext.Value) string {
	if raw.Kind() == '0' {
		number, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return ""
		}
		if number > mostSeconds {
			raw = jsontext.Value(strconv.FormatFloat(number/1000, 'f', -1, 64))
		}
	}
	at, err := timeOf("timestamp", raw)
	if err != nil {
		return ""
	}
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		return ""
	}
	return at
}
