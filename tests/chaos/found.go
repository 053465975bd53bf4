package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"hippocampus/internal/memory"
)

// Memory is a memory as a server shows it.
type Memory struct {
	ID      string   `json:"id"`
	User    string   `json:"user_id"`
	Content string   `json:"content"`
	Type    string   `json:"type"`
	Status  string   `json:"status"`
	Tags    []string `json:"tags"`
	Turn    string   `json:"source_turn_id"`
	Pinned  bool     `json:"pinned"`

	Metadata struct {
		Source string `json:"source"`
		Path   string `json:"path"`
	} `json:"metadata"`
}

// Relation is a relation of one memory to another.
type Relation struct {
	From string `json:"from"`
	Kind string `json:"kind"`
	To   string `json:"to"`
}

func (r Relation) key() string { return r.From + " " + r.Kind + " " + r.To }

// File is a file of the memory tool, or an earlier content of one.
type File struct {
	User    string `json:"user_id"`
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Turn is a turn as a server shows it.
type Turn struct {
	User         string `json:"user_id"`
	Client       string `json:"client_id"`
	ID           string `json:"id"`
	Conversation string `json:"conversation_id"`
	Status       string `json:"status"`
}

// Fact is a piece of evidence.
type Fact struct {
	User  string          `json:"user_id"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Until string          `json:"valid_until"`
	State string          `json:"state"`
}

// Instruction is an instruction of a user.
type Instruction struct {
	User   string `json:"user_id"`
	Name   string `json:"name"`
	Active int    `json:"active"`
}

// Version is one text of an instruction.
type Version struct {
	User    string `json:"user_id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
	Content string `json:"content"`
}

// Workflow counts outcomes.
type Workflow struct {
	User      string `json:"user_id"`
	Workflow  string `json:"workflow"`
	Successes int    `json:"successes"`
	Failures  int    `json:"failures"`
}

// Conversation is a conversation.
type Conversation struct {
	User  string `json:"user_id"`
	ID    string `json:"id"`
	Ended string `json:"ended_at"`
	Turns int    `json:"turns"`
}

// Vector is a record of the vector store.
type Vector struct{ ID, User string }

// Found is the content of the stores when the faults have stopped.
type Found struct {
	Memories      []Memory
	Turns         []Turn
	Facts         []Fact
	Instructions  []Instruction
	Versions      []Version
	Workflows     []Workflow
	Files         []File
	FileVersions  []File
	Relations     []Relation
	Conversations []Conversation
	Copies        []Memory // in the pool
	Pooled        []Pooled
	Vectors       []Vector
	Drift         map[string]int // by what verify calls it
}

// line is a line of an export.
type line struct {
	Memory       *Memory       `json:"memory"`
	Fact         *Fact         `json:"fact"`
	Instruction  *Instruction  `json:"instruction"`
	Version      *Version      `json:"instruction_version"`
	Skill        *Workflow     `json:"skill"`
	File         *File         `json:"file"`
	FileVersion  *File         `json:"file_version"`
	Relations    []Relation    `json:"relations"` // of the memory
	Conversation *Conversation `json:"conversation"`
	Pooled       *Pooled       `json:"pooled"`
	End          *struct{}     `json:"end"`
	Error        string        `json:"error"`
}

// Look reads everything from a server.
func Look(ctx context.Context, c *Client, users []string) (Found, error) {
	var f Found
	export, err := c.Get(ctx, "/v1/export")
	if err != nil {
		return f, err
	}
	if err := f.read(export); err != nil {
		return f, err
	}
	for _, user := range users {
		if err := f.readTurns(ctx, c, user); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *Found) read(export []byte) error {
	rows := bufio.NewScanner(bytes.NewReader(export))
	rows.Buffer(nil, 1<<23)
	whole := false
	for rows.Scan() {
		var l line
		if err := json.Unmarshal(rows.Bytes(), &l); err != nil {
			return fmt.Errorf("a line of the export: %w", err)
		}
		f.Relations = append(f.Relations, l.Relations...)
		switch {
		case l.Memory != nil && l.Memory.User == memory.PoolUser:
			f.Copies = append(f.Copies, *l.Memory)
		case l.Memory != nil:
			f.Memories = append(f.Memories, *l.Memory)
		case l.Fact != nil:
			f.Facts = append(f.Facts, *l.Fact)
		case l.Instruction != nil:
			f.Instructions = append(f.Instructions, *l.Instruction)
		case l.Version != nil:
			f.Versions = append(f.Versions, *l.Version)
		case l.Skill != nil:
			f.Workflows = append(f.Workflows, *l.Skill)
		case l.File != nil:
			f.Files = append(f.Files, *l.File)
		case l.FileVersion != nil:
			f.FileVersions = append(f.FileVersions, *l.FileVersion)
		case l.Conversation != nil:
			f.Conversations = append(f.Conversations, *l.Conversation)
		case l.Pooled != nil:
			f.Pooled = append(f.Pooled, *l.Pooled)
		case l.Error != "":
			return fmt.Errorf("the export broke off: %s", l.Error)
		case l.End != nil:
			whole = true
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !whole {
		return fmt.Errorf("the export has no end")
	}
	return nil
}

// readTurns reads a user's turns, including turns without a conversation.
func (f *Found) readTurns(ctx context.Context, c *Client, user string) error {
	for cursor := ""; ; {
		var page struct {
			Turns []Turn `json:"turns"`
			Next  string `json:"next_cursor"`
		}
		path := "/v1/turns?limit=500&user_id=" + url.QueryEscape(user)
		if cursor != "" {
			path += "&cursor=" + url.QueryEscape(cursor)
		}
		if err := c.GetJSON(ctx, path, &page); err != nil {
			return err
		}
		f.Turns = append(f.Turns, page.Turns...)
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}
