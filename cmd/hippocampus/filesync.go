package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// synced is the server's report of a synchronization; the lists hold ids.
type synced struct {
	File                             string
	Added, Changed, Forgotten, Shown []string
	Conflicts                        []struct{}
	Secrets                          int    // that were cut out of the file
	tag                              string // of the server's memories
}

// exchanges bounds the synchronizations of a file that changes during each of them.
const exchanges = 5

// get returns the server's file, or changed=false if its entity tag is the given one.
func (f memoryFile) get(ctx context.Context, tag string) (file string, changed bool, err error) {
	response, err := f.Ask(ctx, http.MethodGet, f.query(), http.Header{"If-None-Match": {tag}}, nil)
	if err != nil {
		return "", false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNotModified:
		return "", false, nil
	case http.StatusOK:
		raw, err := io.ReadAll(response.Body)
		return string(raw), true, err
	}
	return "", false, f.Refusal(response)
}

// sync sends the file and replaces it by the merged one. If the file changes in the meantime, it is sent again, so that
// no change is overwritten. revision is the revision that the server must have; empty: any.
func (f memoryFile) sync(ctx context.Context, revision string) (synced, error) {
	var all synced
	for range exchanges {
		sent, _, err := f.read()
		if err != nil {
			return all, err
		}
		done, err := f.put(ctx, sent, revision)
		if err != nil {
			return all, f.locate(sent, err)
		}
		all.File, all.tag = done.File, done.tag
		revision = ""
		all.Added = append(all.Added, done.Added...)
		all.Changed = append(all.Changed, done.Changed...)
		all.Forgotten = append(all.Forgotten, done.Forgotten...)
		all.Shown = append(all.Shown, done.Shown...)
		all.Conflicts = append(all.Conflicts, done.Conflicts...)
		all.Secrets += done.Secrets
		now, _, err := f.read()
		if err != nil {
			return all, err
		}
		if now == sent {
			return all, f.write(ctx, done.File)
		}
	}
	return all, fmt.Errorf("%s changes all the time: repeat the command when it is saved", f.path)
}

func (f memoryFile) put(ctx context.Context, file, revision string) (synced, error) {
	header := http.Header{"Content-Type": {"text/markdown; charset=utf-8"}, "Accept": {"application/json"}}
	if revision != "" {
		header.Set("If-Match", `"`+revision+`"`)
	}
	path := f.query()
	if f.yes {
		path += "&confirm=true"
	}
	var done synced
	response, err := f.Ask(ctx, http.MethodPut, path, header, strings.NewReader(file))
	if err != nil {
		return done, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return done, f.Refusal(response)
	}
	if err := json.NewDecoder(response.Body).Decode(&done); err != nil {
		return done, fmt.Errorf("the response broke off: %w; repeat the command", err)
	}
	done.tag = response.Header.Get("ETag")
	return done, nil
}

// resolve follows symbolic links and returns the absolute path of a file, which need not exist.
func resolve(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(folder, filepath.Base(path)), err
	}
	return target, err
}

// Modes of files and folders that do not exist yet; memories are private.
const (
	newFile   = 0o600
	newFolder = 0o700
)

// replace writes a file whole or not at all, and keeps its mode. It does not write a file that already has the text.
func replace(path, text string) error {
	if old, exists, err := readFile(path); err != nil || exists && old == text {
		return err
	}
	mode := os.FileMode(newFile)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
