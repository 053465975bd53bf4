package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// copyOf returns the copy of a line for the other user, also as a value of the type that it was given.
func (c *cloning) copyOf(ctx context.Context, value any) (l line, copied any, err error) {
	user := c.into.UserID
	switch v := value.(type) {
	case recordLine:
		err = c.record(ctx, &v)
		m := v.Memory
		l.Memory = &m
		l.Events, l.Relations = v.Events, v.Relations
		v.Memory.Embedding = nil // the text of a line is read without it
		copied = v
	case continuationLine:
		v.Continues = memoryKey{user, c.ids[v.Continues.ID]} // it follows the line of its memory
		err = c.events(ctx, v.Events)
		l.Continues, l.Events = &v.Continues, v.Events
		copied = v
	case zoneLine:
		v.UserID = user
		l.TimeZone, copied = &v, v
	case documentLine:
		v.UserID = user
		v.ID = c.id(v.ID)
		for i := range v.Passages {
			v.Passages[i].MemoryID = c.id(v.Passages[i].MemoryID)
		}
		l.Document, copied = &v, v
	case factLine:
		v.UserID = user
		v.ID, v.MemoryID = c.id(v.ID), c.id(v.MemoryID)
		v.Reason, err = c.text(ctx, v.Reason)
		l.Fact, copied = &v, v
	case instructionLine:
		v.UserID = user
		l.Instruction, copied = &v, v
	case versionLine:
		v.UserID = user
		v.Grounds = c.grounds(v.Grounds)
		l.Text, copied = &v, v
	case skillLine:
		v.UserID = user
		v.ID, v.MemoryID = c.id(v.ID), c.id(v.MemoryID)
		l.Skill, copied = &v, v
	case outcomeLine:
		v.UserID = user
		l.Outcome, copied = &v, v
	case fileLine:
		v.UserID = user
		v.ID, v.VersionID = c.id(v.ID), c.id(v.VersionID)
		for i := range v.Paragraphs {
			v.Paragraphs[i].MemoryID = c.id(v.Paragraphs[i].MemoryID)
		}
		l.File, copied = &v, v
	case fileVersionLine:
		v.UserID = user
		v.ID, v.FileID = c.id(v.ID), c.id(v.FileID)
		l.FileVersion, copied = &v, v
	case conversationLine:
		v.UserID, v.FirstTurnID = user, c.id(v.FirstTurnID)
		l.Conversation, copied = &v, v
	case turnLine:
		err = c.turn(ctx, &v)
		l.Turn, copied = &v, v
	case consolidationLine:
		v.UserID = user
		v.FirstTurnID, v.ID = c.id(v.FirstTurnID), c.id(v.ID)
		v.Error, err = c.text(ctx, v.Error)
		l.Consolidation, copied = &v, v
	case feedbackLine:
		v.UserID = user
		c.ids = nil
		if v.SourceID == v.MemoryID { // a memory that was forgotten by hand
			v.MemoryID, err = c.named(ctx, v.MemoryID)
			v.SourceID = v.MemoryID
		} else {
			v.SourceID = c.id(v.SourceID)
			v.MemoryID, err = c.named(ctx, v.MemoryID)
		}
		l.Feedback, copied = &v, v
	case modeLine:
		v.UserID = user
		l.MemoryMode, copied = &v, v
	default:
		err = fmt.Errorf("a line of type %T has no copy", value)
	}
	return l, copied, err
}

// grounds copies the grounds of a version of an instruction.
func (c *cloning) grounds(all []memory.Ground) []memory.Ground {
	copies := slices.Clone(all)
	for i := range copies {
		copies[i].Memories = slices.Clone(copies[i].Memories)
		for n, id := range copies[i].Memories {
			copies[i].Memories[n] = c.id(id)
		}
	}
	return copies
}

// record copies a memory. Its events and relations may name other memories.
func (c *cloning) record(ctx context.Context, v *recordLine) error {
	m := &v.Memory
	id, turnID := c.idOf(m.ID, m.SourceTurnID), c.id(m.SourceTurnID)
	c.ids = map[string]string{m.ConversationID: m.ConversationID} // is the client's, even if it is a UUID
	c.ids[m.ID], c.ids[m.SourceTurnID] = id, turnID
	c.cites = m.Type == memory.TypeMessage && m.Speaker == memory.SpeakerDocument
	m.UserID = c.into.UserID
	m.ID, m.SourceTurnID = id, turnID
	mentioned := []*string{}
	if m.SupersededBy != "" {
		mentioned = append(mentioned, &m.SupersededBy)
	}
	for i := range v.Relations {
		mentioned = append(mentioned, &v.Relations[i].From, &v.Relations[i].To)
	}
	for _, id := range mentioned {
		var err error
		if *id, err = c.named(ctx, *id); err != nil {
			return err
		}
	}
	var err error
	if m.Metadata, err = c.json(ctx, m.Metadata, true); err != nil {
		return err
	}
	return c.events(ctx, v.Events)
}

func (c *cloning) events(ctx context.Context, events []wire.Event) (err error) {
	for i := range events {
		e := &events[i]
		e.ID = c.id(e.ID)
		if e.Cause, err = c.text(ctx, e.Cause); err != nil {
			return err
		}
		if e.Detail, err = c.json(ctx, e.Detail, false); err != nil {
			return err
		}
	}
	return nil
}

// turn copies a turn without the id that its client gave it, which is unique in the app.
func (c *cloning) turn(ctx context.Context, v *turnLine) (err error) {
	c.ids = nil
	v.UserID, v.ClientID = c.into.UserID, ""
	v.FirstTurnID, v.ID = c.id(v.FirstTurnID), c.id(v.ID)
	for i := range v.Withheld {
		if v.Withheld[i].Statement, err = c.named(ctx, v.Withheld[i].Statement); err != nil {
			return err
		}
	}
	v.LastError, err = c.text(ctx, v.LastError)
	return err
}

// id is the id of the copy of anything but the memory of a message; "" for "".
func (c *cloning) id(of string) string {
	if of == "" {
		return ""
	}
	return memory.CopiedID(of, c.into, c.round)
}

// idOf is the id of the copy of a memory, which may have been made from a turn. Memories of messages have the ids that
// the copy of the turn gives to its messages.
func (c *cloning) idOf(id, turnID string) string {
	if parsed, ok := memory.ParseID(id); ok && turnID != "" && memory.MadeOf(turnID)(parsed) {
		return memory.MadeAgain(id, c.id(turnID))
	}
	return c.id(id)
}

// named is the id of the copy of something that a line mentions, such as another memory.
func (c *cloning) named(ctx context.Context, id string) (string, error) {
	if copied, known := c.ids[id]; known {
		return copied, nil
	}
	m, err := c.records.Memory(ctx, c.from.AppID, id)
	if err != nil && !memory.IsKind(err, memory.KindNotFound) {
		return "", err
	}
	copied := c.id(id)
	if err == nil && m.Owner == c.from {
		copied = c.idOf(id, m.SourceTurnID)
	}
	if c.ids == nil {
		c.ids = map[string]string{}
	}
	c.ids[id] = copied
	return copied, nil
}

var anyID = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// text is a text of the server's with the ids of the copies.
func (c *cloning) text(ctx context.Context, s string) (string, error) {
	b := []byte(s)
	err := c.replace(ctx, b)
	return string(b), err
}

// replace replaces the ids in a text, which have the same length.
func (c *cloning) replace(ctx context.Context, text []byte) error {
	for _, at := range anyID.FindAllIndex(text, -1) {
		copied, err := c.named(ctx, string(text[at[0]:at[1]]))
		if err != nil {
			return err
		}
		copy(text[at[0]:at[1]], copied)
	}
	return nil
}

// ofUsers are the fields of a detail that hold what users and clients wrote; reasons are the server's texts.
var (
	ofUsers = map[string]bool{"content": true, "asked": true, "tags": true, "metadata": true}
	reasons = map[string]bool{"reason": true}
)

// json is the detail of an event, or the metadata of a memory if isTheirs, with the ids of the copies: in the strings
// that are an id, and in reasons. In metadata, only the ids of a workflow and
// of the document of a passage are the server's.
func (c *cloning) json(ctx context.Context, raw json.RawMessage, isTheirs bool) (json.RawMessage, error) {
	if !anyID.Match(raw) {
		return raw, nil
	}
	raw = bytes.Clone(raw)
	in := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		isObject, isKey, isTheirs bool   // isKey: the next token is a key
		key, of                   string // of: the key of the object itself
	}
	levels := []level{{isTheirs: isTheirs}}
	for begin := int64(0); ; begin = in.InputOffset() {
		token, err := in.Token()
		if err != nil { // the end: the detail was read from the database, or is refused by the checks
			return raw, nil
		}
		top := &levels[len(levels)-1]
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if s, isText := token.(string); isText && top.isKey {
			top.key, top.isKey = s, false
			continue
		}
		isTheirs := top.isTheirs || ofUsers[top.key]
		top.isKey = top.isObject
		switch v := token.(type) {
		case json.Delim:
			isObject := v == '{'
			levels = append(levels, level{
				isObject: isObject, isKey: isObject, isTheirs: isTheirs, key: top.key, of: top.key,
			})
		case string:
			isServers := top.of == "skill" && top.key == "workflow" ||
				c.cites && top.key == memory.DocumentIDKey && (top.of == "" || top.of == "metadata")
			if (!isTheirs || isServers) && memory.IsID(v) || !isTheirs && reasons[top.key] {
				if err := c.replace(ctx, raw[begin:in.InputOffset()]); err != nil {
					return nil, err
				}
			}
		}
	}
}
