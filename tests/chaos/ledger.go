package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Kind is the kind of change that a request makes to its object.
type Kind string

// The kinds. The kinds after Erase do not change the ledger's objects.
const (
	WriteMemory        Kind = "write memory"
	ImportMemory       Kind = "import memory"
	UpdateMemory       Kind = "update memory"
	ForgetMemory       Kind = "forget memory"
	RestoreMemory      Kind = "restore memory"
	PostTurn           Kind = "turn"
	EndConversation    Kind = "end conversation"
	DeleteConversation Kind = "delete conversation"
	PutFact            Kind = "put fact"
	EndFact            Kind = "end fact"
	Publish            Kind = "publish instruction"
	Retire             Kind = "retire instruction"
	CountOutcome       Kind = "count outcome"
	CreateFile         Kind = "create file"
	EditFile           Kind = "edit file"
	DeleteFile         Kind = "delete file"
	AddBullet          Kind = "add bullet"
	Pin                Kind = "pin"
	Relate             Kind = "relate"
	Contribute         Kind = "contribute to the pool"
	Erase              Kind = "erase user"
	Read               Kind = "read memory"
	Recall             Kind = "recall"
	Maintain           Kind = "maintain"
)

// Outcome is the outcome of a request, as far as the client knows it.
type Outcome string

// The outcomes.
const (
	Acknowledged Outcome = "acknowledged"
	Unknown      Outcome = "unknown" // no answer, or one of status 5xx: the request may have taken effect, or may yet
	Refused      Outcome = "refused" // the request has changed nothing
)

// Entry is one request and one object that it concerns, as a line of the ledger.
type Entry struct {
	N       int       `json:"n"` // from 1
	At      time.Time `json:"at"`
	User    string    `json:"user"`
	Kind    Kind      `json:"kind"`
	Object  string    `json:"object,omitempty"` // unique among all users
	Of      string    `json:"of,omitempty"`     // the conversation of a turn, workflow of an outcome, memory of a copy
	Value   string    `json:"value,omitempty"`  // the version of the object after the request
	ID      string    `json:"id,omitempty"`
	Status  int       `json:"status,omitempty"` // 0: there was no answer
	Error   string    `json:"error,omitempty"`
	Outcome Outcome   `json:"outcome"`
}

func (e Entry) String() string {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// Ledger records requests in the order of their answers.
type Ledger struct {
	mu         sync.Mutex
	out        io.Writer // gets each entry as a line
	entries    []Entry
	violations []Violation
	err        error
}

// Record numbers the entry and keeps it.
func (l *Ledger) Record(e Entry) Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.N = len(l.entries) + 1
	l.entries = append(l.entries, e)
	if _, err := fmt.Fprintln(l.out, e); err != nil && l.err == nil {
		l.err = err
	}
	return e
}

// Blame records a violation that an answer itself shows.
func (l *Ledger) Blame(v Violation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violations = append(l.violations, v)
}

// Blamed returns the violations that Blame recorded.
func (l *Ledger) Blamed() []Violation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.violations
}

// Entries returns all entries.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries
}
