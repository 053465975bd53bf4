// Package chatfile reads the chats that other programs export:
//
//	JSON, or a zip with conversations.json -> one chat at a time -> its messages -> turns
package chatfile

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Turn is a body of POST /v1/turns: a message of the user and what was answered.
type Turn struct {
	ID             string    `json:"id"`
	UserID         string    `json:"user_id,omitempty"` // in exports of several users' chats
	ConversationID string    `json:"conversation_id"`
	Messages       []Message `json:"messages"`
}

// Message is a message of a turn.
type Message struct {
	ID      string    `json:"id,omitempty"`
	Role    string    `json:"role"` // user or assistant
	Content string    `json:"content"`
	At      time.Time `json:"at,omitzero"`
}

// chat is a conversation with its messages in their order; those of other roles are left out later.
type chat struct {
	id, user string
	messages []Message
}

// readers make a chat from its JSON, by the program that exported it. They return errForeign if it is no such chat,
// and errNowhere if it has messages and no last one.
var readers = map[string]func(json.RawMessage) (chat, error){
	"chatgpt": chatGPT, "claude": claude, "openwebui": openWebUI, "zep": zep,
}

// Formats are the names of the programs whose exports are read.
func Formats() []string { return slices.Sorted(maps.Keys(readers)) }

var errForeign = errors.New("it is not a chat of this program: give --from the program that made the export")

// errNowhere is the error of a chat whose messages are a tree without a way to the last one.
var errNowhere = errors.New("it does not say which of its messages is the last")

// Export is a file with chats.
type Export struct {
	read  func(json.RawMessage) (chat, error)
	parts []part
}

// part is one JSON document of an export.
type part struct {
	size int64
	open func() (io.ReadCloser, error)
}

// Open opens an export of size bytes, which is JSON or a zip.
func Open(format string, file io.ReaderAt, size int64) (*Export, error) {
	e := &Export{read: readers[format]}
	archive, err := zip.NewReader(file, size)
	if errors.Is(err, zip.ErrFormat) {
		whole := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(file, 0, size)), nil }
		e.parts = []part{{size, whole}}
		return e, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the zip: %w", err)
	}
	for _, f := range archive.File {
		// ChatGPT divides large exports: conversations-000.json.
		if name := path.Base(f.Name); strings.HasPrefix(name, "conversations") && path.Ext(name) == ".json" {
			e.parts = append(e.parts, part{int64(f.UncompressedSize64), f.Open})
		}
	}
	if len(e.parts) == 0 {
		return nil, errors.New("the zip has no conversations.json: give the file that holds the chats")
	}
	return e, nil
}

// Size is the number of bytes of the JSON, for the progress.
func (e *Export) Size() (bytes int64) {
	for _, p := range e.parts {
		bytes += p.size
	}
	return bytes
}

// ChatError is the error of one chat, which is left out.
type ChatError struct {
	Number int // of the chat, from 1
	Err    error
}

func (e *ChatError) Error() string { return fmt.Sprintf("chat %d: %v", e.Number, e.Err) }

func (e *ChatError) Unwrap() error { return e.Err }

// Turns returns the turns in the order of the file. progress gets the bytes that are read. A chat that cannot be read
// is a ChatError, after which more turns may follow, unless it is the first chat; any other error is the last.
func (e *Export) Turns(progress io.Writer) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		number := 0
		for _, p := range e.parts {
			for raw, err := range p.chats(progress) {
				number++
				var c chat
				if err == nil {
					if c, err = e.read(raw); err != nil {
						err = &ChatError{number, err}
					}
				}
				if err != nil {
					if !yield(Turn{}, err) || number == 1 {
						return
					}
					continue
				}
				for turn := range c.turns() {
					if !yield(turn, nil) {
						return
					}
				}
			}
		}
	}
}

// chats returns the JSON of one chat after the other: the elements of a list, or the only one. An error is the last.
func (p part) chats(progress io.Writer) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		file, err := p.open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		from := bufio.NewReader(io.TeeReader(file, progress))
		decoder := json.NewDecoder(from)
		if begin, _ := from.Peek(512); strings.HasPrefix(strings.TrimLeft(string(begin), " \t\r\n"), "[") {
			_, _ = decoder.Token() // the bracket
		}
		for decoder.More() {
			var raw json.RawMessage
			if err := decoder.Decode(&raw); err != nil {
				yield(nil, fmt.Errorf("the file is not JSON, or is cut off: %w", err))
				return
			}
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// maxMessages is how many messages a turn may have.
const maxMessages = 100

// turns divides the chat before each message of the user. The id of a turn is derived from its last message's, so that
// a later export with a longer answer is another turn; messages with known ids are not kept twice.
func (c chat) turns() iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		var open []Message
		count := 0
		end := func() bool {
			if len(open) == 0 {
				return true
			}
			last := cmp.Or(open[len(open)-1].ID, strconv.Itoa(count))
			turn := Turn{ID: c.id + "-" + last, UserID: c.user, ConversationID: c.id, Messages: open}
			open = nil
			return yield(turn)
		}
		for _, m := range c.messages {
			if m.Role != "user" && m.Role != "assistant" || strings.TrimSpace(m.Content) == "" {
				continue
			}
			if (m.Role == "user" || len(open) == maxMessages) && !end() {
				return
			}
			open, count = append(open, m), count+1
		}
		end()
	}
}
