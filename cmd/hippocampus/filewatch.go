package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"

	"hippocampus/internal/memoryfile"
)

// quiet is how long a file must not change before it is read, since editors save in several steps.
const quiet = 300 * time.Millisecond

// watch synchronizes until it is interrupted. It watches the folder, since editors replace the file. Failures are
// printed and tried again.
func (f memoryFile) watch(cmd *cobra.Command) error {
	changes, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer changes.Close()
	paths := f.paths()
	for _, path := range paths {
		folder := filepath.Dir(path)
		if err := errors.Join(os.MkdirAll(folder, newFolder), changes.Add(folder)); err != nil {
			return fmt.Errorf("watch the folder of %s: %w", path, err)
		}
	}
	w := watched{memoryFile: f, cmd: cmd}
	ctx := cmd.Context()
	w.report(ctx, w.exchange(ctx))
	saved := time.NewTimer(quiet) // for a save during the first synchronization
	defer saved.Stop()
	poll := time.NewTicker(f.every)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-changes.Events:
			if !open {
				return errors.New("the folder cannot be watched any more: repeat the command")
			}
			if slices.Contains(paths, event.Name) {
				saved.Reset(quiet)
			}
		case err := <-changes.Errors:
			w.report(ctx, err)
			saved.Reset(quiet)
		case <-saved.C:
			w.report(ctx, w.onSave(ctx))
		case <-poll.C:
			w.report(ctx, w.onPoll(ctx))
		}
	}
}

// paths lists the files that are watched.
func (f memoryFile) paths() []string {
	paths := []string{f.path}
	if f.hasTopics() {
		for _, name := range memoryfile.TopicNames() {
			paths = append(paths, f.topic(name))
		}
	}
	return paths
}

// watched is a watched file after its last synchronization.
type watched struct {
	memoryFile
	cmd  *cobra.Command
	last synced
}

// onSave synchronizes the file if it differs from the last merged one.
func (w *watched) onSave(ctx context.Context) error {
	file, exists, err := w.read()
	if err != nil || !exists || w.last.tag != "" && file == w.last.File {
		return err
	}
	return w.exchange(ctx)
}

// onPoll synchronizes the file if the server's memories changed.
func (w *watched) onPoll(ctx context.Context) error {
	_, exists, err := w.read()
	if err != nil || !exists {
		return err // an editor is about to write the file
	}
	if w.last.tag != "" {
		_, changed, err := w.get(ctx, w.last.tag)
		if err != nil || !changed {
			return err
		}
	}
	return w.exchange(ctx)
}

func (w *watched) exchange(ctx context.Context) error {
	done, err := w.sync(ctx, "")
	if err != nil {
		return err
	}
	w.last = done
	if err := w.print(w.cmd, done); err != nil && !errors.Is(err, errConflicts) {
		return err
	}
	return nil
}

// report prints an error, unless the command is interrupted.
func (w *watched) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(w.cmd.ErrOrStderr(), "hippocampus: %v\n", err)
	}
}
