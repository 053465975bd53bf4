package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/wire"
)

// The first line of an export names its format.
const (
	Format  = "hippocampus-export"
	Version = 2
	oldest  = 1 // the oldest version that is read: memories only
)

// header is the first line.
type header struct {
	Format     string    `json:"format"`
	Version    int       `json:"version"`
	ExportedAt time.Time `json:"exported_at"`
}

// recordLine is a memory with its history, and with its relations to memories of earlier lines.
type recordLine struct {
	Memory    memoryLine      `json:"memory"`
	Events    []wire.Event    `json:"events"`
	Relations []wire.Relation `json:"relations"`
}

// continuationLine holds the part of a history that does not fit in the line of
// its memory.
type continuationLine struct {
	Continues memoryKey    `json:"continues"`
	Events    []wire.Event `json:"events"`
}

type memoryKey struct {
	UserID string `json:"user_id"`
	ID     string `json:"id"`
}

// endLine is the last line of a whole export.
type endLine struct {
	End Counts `json:"end"`
}

// errorLine is the last line of an export that failed midway.
type errorLine struct {
	Error string `json:"error"`
}

// line is any line, as it is read.
type line struct {
	Format        string             `json:"format"`
	Version       int                `json:"version"`
	TimeZone      *zoneLine          `json:"time_zone"`
	Memory        *memoryLine        `json:"memory"`
	Continues     *memoryKey         `json:"continues"`
	Events        []wire.Event       `json:"events"`
	Relations     []wire.Relation    `json:"relations"`
	Document      *documentLine      `json:"document"`
	Fact          *factLine          `json:"fact"`
	Instruction   *instructionLine   `json:"instruction"`
	Text          *versionLine       `json:"instruction_version"`
	Skill         *skillLine         `json:"skill"`
	Outcome       *outcomeLine       `json:"outcome"`
	File          *fileLine          `json:"file"`
	FileVersion   *fileVersionLine   `json:"file_version"`
	Conversation  *conversationLine  `json:"conversation"`
	Turn          *turnLine          `json:"turn"`
	Consolidation *consolidationLine `json:"consolidation"`
	MemoryMode    *modeLine          `json:"memory_mode"`
	Feedback      *feedbackLine      `json:"feedback"`
	Pooled        *pooledLine        `json:"pooled"`
	End           Counts             `json:"end"`
	Error         string             `json:"error"`
}

// entry is what a line holds, unless it holds a memory. It also implements
// userEntry or scopeEntry.
type entry interface {
	kind() Kind
	check(f *faults)
}

// entry returns the entry of the line, if any; several reports that the line
// holds more than one thing.
func (l line) entry() (e entry, several bool) {
	var entries []entry
	add := func(present bool, e entry) {
		if present {
			entries = append(entries, e)
		}
	}
	add(l.TimeZone != nil, l.TimeZone)
	add(l.Document != nil, l.Document)
	add(l.Fact != nil, l.Fact)
	add(l.Instruction != nil, l.Instruction)
	add(l.Text != nil, l.Text)
	add(l.Skill != nil, l.Skill)
	add(l.Outcome != nil, l.Outcome)
	add(l.File != nil, l.File)
	add(l.FileVersion != nil, l.FileVersion)
	add(l.Conversation != nil, l.Conversation)
	add(l.Turn != nil, l.Turn)
	add(l.Consolidation != nil, l.Consolidation)
	add(l.MemoryMode != nil, l.MemoryMode)
	add(l.Feedback != nil, l.Feedback)
	add(l.Pooled != nil, l.Pooled)
	if len(entries) == 0 {
		return nil, false
	}
	return entries[0], len(entries) > 1 || l.Memory != nil || l.Continues != nil || l.Events != nil || l.Relations != nil
}

// compact returns a JSON text without insignificant space.
func compact(raw json.RawMessage) json.RawMessage {
	var text bytes.Buffer
	if raw == nil || json.Compact(&text, raw) != nil {
		return raw // the checks report text that is not JSON
	}
	return text.Bytes()
}

// Kind names what a line holds, in the plural.
type Kind string

// The kinds of line. An export has the time zones first, then the others in this order.
const (
	Memories       Kind = "memories"
	TimeZones      Kind = "time_zones"           // of users
	Documents      Kind = "documents"            // without their passages, which are memories
	Facts          Kind = "facts"                // timeline facts
	Instructions   Kind = "instructions"         // without their texts
	Versions       Kind = "instruction_versions" // the texts
	Skills         Kind = "skills"               // workflows
	Outcomes       Kind = "outcomes"             // that were counted under a client's id
	Files          Kind = "files"                // of the memory tool
	FileVersions   Kind = "file_versions"        // former contents
	Conversations  Kind = "conversations"        // without their turns
	Turns          Kind = "turns"                // of conversations
	Consolidations Kind = "consolidations"       // of conversations
	Feedback       Kind = "feedback"             // of clients and of people, on memories and candidates
	Pool           Kind = "pool"                 // whose the memories of the shared pool are
	MemoryModes    Kind = "memory_modes"         // of users for whom memory is not on
)

// Kinds lists every kind.
var Kinds = []Kind{
	Memories, TimeZones, Documents, Facts, Instructions, Versions, Skills, Outcomes, Files, FileVersions, Conversations,
	Turns, Consolidations, Feedback, Pool, MemoryModes,
}

// LeftOut counts, at the end of an export, the turns and consolidations that it
// omits because they are not finished yet.
const LeftOut Kind = "left_out"

// Words is the kind as a phrase: "instruction versions".
func (k Kind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// Counts is the number of lines of each kind.
type Counts map[Kind]int

// equal reports whether both count the same, except for LeftOut.
func (c Counts) equal(d Counts) bool {
	return !slices.ContainsFunc(Kinds, func(k Kind) bool { return c[k] != d[k] })
}

// String lists the counts, except for LeftOut: "8 memories, 3 facts".
func (c Counts) String() string {
	var parts []string
	for _, k := range Kinds {
		if c[k] > 0 || k == Memories {
			parts = append(parts, fmt.Sprint(c[k], " ", k.Words()))
		}
	}
	return strings.Join(parts, ", ")
}

// reader splits a stream into lines.
type reader struct {
	in     *bufio.Reader
	number int // of the last line that was read, from 1
	line   []byte
}

func newReader(in io.Reader) *reader { return &reader{in: bufio.NewReaderSize(in, 64<<10)} }

// next reads the next line that is not blank, without its line break. The text is
// valid until the next call. If the line has more than MaxLine bytes, next skips
// the rest of it and whole is false. After the last line the error is io.EOF.
func (r *reader) next() (text []byte, whole bool, err error) {
	for {
		r.line, whole = r.line[:0], true
		read := 0
		for {
			var part []byte
			part, err = r.in.ReadSlice('\n')
			read += len(part)
			if len(r.line)+len(part) <= MaxLine+len("\r\n") {
				r.line = append(r.line, part...)
			} else {
				whole = false
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if err != nil && (err != io.EOF || read == 0) {
			return nil, false, err
		}
		r.number++
		text = bytes.TrimRight(r.line, "\r\n")
		whole = whole && len(text) <= MaxLine
		if !whole || len(bytes.TrimSpace(text)) > 0 {
			return text, whole, nil
		}
	}
}
