package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hippocampus/internal/memory"
)

// RetryAfter is when a caller should try again while the database is
// unavailable or busy.
const RetryAfter = time.Second

// Fault gives a driver's error its memory.Kind and names what failed, for
// example "store the turn". An error that has a kind already is left alone.
func Fault(err error, doing string, kindOf func(error) memory.Kind, lacksTables func(error) bool) error {
	if known := new(memory.Error); err == nil || errors.As(err, &known) {
		return err
	}
	switch kind := kindOf(err); kind {
	case memory.KindUnavailable:
		if lacksTables(err) {
			err = fmt.Errorf("the database cannot %s before its tables are made (run `hippocampus migrate`): %w", doing, err)
		} else if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the database could not %s in time, try again: %w", doing, err)
		} else {
			err = fmt.Errorf("the database could not %s for now, try again: %w", doing, err)
		}
		return &memory.Error{Kind: kind, Err: err, RetryAfter: RetryAfter}
	case memory.KindNotFound:
		return memory.Errorf(kind, "cannot %s: it does not exist", doing)
	default:
		return memory.Errorf(kind, "cannot %s: %w", doing, err)
	}
}

// NotFound is the error for an id that no row has.
func NotFound(what, id string) error {
	const most = 64
	if runes := []rune(id); len(runes) > most {
		id = string(runes[:most]) + "…"
	}
	return memory.Errorf(memory.KindNotFound, "there is no %s %q: check the id", what, id)
}
