// Package recording keeps the prompts that a server sends to a chat model, with the
// answers, in a file, and serves them again:
//
//	server -> Recorder -> endpoint of a model      Recorder.Recording -> file
//	server -> Player                               file -> Player
//
// A prompt is identified by the hash of its messages, so a change of its wording
// needs another recording.
package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
)

// Recording is calls of a chat model in the order of their answers.
type Recording struct {
	Model   string   `json:"model"`
	Systems []string `json:"systems"` // the system prompts, each once
	Calls   []Call   `json:"calls"`
}

// Call is a prompt with its answer.
type Call struct {
	Hash     string    `json:"hash"`   // of all messages
	Prompt   string    `json:"prompt"` // its name, such as score
	System   int       `json:"system"` // index in Recording.Systems
	Messages []Message `json:"messages"`
	Answer   string    `json:"answer"`
}

// Message is a message other than the system prompt.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Read reads a recording from a file.
func Read(file string) (r Recording, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("read the recording: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read the recording %s: %w", file, err)
	}
	for i, c := range r.Calls {
		if c.System < 0 || c.System >= len(r.Systems) {
			return r, fmt.Errorf("read the recording %s: calls[%d] names the missing system prompt %d", file, i, c.System)
		}
		if hash := hashOf(r.messages(c)); hash != c.Hash {
			return r, fmt.Errorf("read the recording %s: calls[%d] has the hash %s, its messages %s: record it again",
				file, i, c.Hash, hash)
		}
	}
	return r, nil
}

// Write writes a recording to a file.
func (r Recording) Write(file string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// messages are all messages of a call.
func (r Recording) messages(c Call) []Message {
	return slices.Concat([]Message{{Role: system, Content: r.Systems[c.System]}}, c.Messages)
}

const system = "system"

// add appends a call.
func (r *Recording) add(messages []Message, answer string) {
	c := Call{Hash: hashOf(messages), Prompt: nameOf(messages), Answer: answer}
	text := ""
	for _, m := range messages {
		if m.Role == system {
			text = m.Content
		} else {
			c.Messages = append(c.Messages, m)
		}
	}
	if c.System = slices.Index(r.Systems, text); c.System < 0 {
		c.System = len(r.Systems)
		r.Systems = append(r.Systems, text)
	}
	r.Calls = append(r.Calls, c)
}

// hashOf is a hash of messages, the same for any order of the fields in JSON.
func hashOf(messages []Message) string {
	sum := sha256.New()
	for _, m := range messages {
		fmt.Fprintf(sum, "%q %q\n", m.Role, m.Content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

var mark = regexp.MustCompile(`\[hippocampus/(\w+)\]`)

// nameOf returns the name of a prompt, which the server writes in its first line.
func nameOf(messages []Message) string {
	for _, m := range messages {
		if match := mark.FindStringSubmatch(m.Content); m.Role == system && match != nil {
			return match[1]
		}
	}
	return "unknown"
}
