package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"hippocampus/internal/memory"
	"hippocampus/internal/memoryfile"
	"hippocampus/internal/wire"
)

// hasTopics reports whether the file is an index of topic files. The comparison minds the case of the name, even on a
// file system that ignores it.
func (f memoryFile) hasTopics() bool { return filepath.Base(f.name) == memoryfile.Index.Name }

// topic is the path of a topic file.
func (f memoryFile) topic(name string) string {
	return filepath.Join(filepath.Dir(f.path), filepath.FromSlash(name))
}

// readTopics reads the index and the topic files as one file; exists reports whether there is any of them.
func (f memoryFile) readTopics() (file string, exists bool, err error) {
	index, exists, err := readFile(f.path)
	if err != nil {
		return "", false, err
	}
	texts := map[string]string{}
	for _, name := range memoryfile.TopicNames() {
		text, found, err := readFile(f.topic(name))
		if err != nil {
			return "", false, err
		}
		if found {
			texts[name], exists = text, true
		}
	}
	file, err = memoryfile.JoinTopics(index, texts)
	return file, exists, err
}

// writeTopics writes the topic files first and the index, which has the revision, last, so that a failure halfway makes
// the server forget nothing.
func (f memoryFile) writeTopics(ctx context.Context, file string) error {
	important, err := f.important(ctx)
	if err != nil {
		return err
	}
	index, err := memoryfile.NewIndex(file, important)
	if err != nil {
		return err
	}
	topics, err := memoryfile.SplitTopics(file)
	if err != nil {
		return err
	}
	for _, t := range topics {
		path := f.topic(t.Name)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && t.Memories == 0 {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), newFolder); err != nil {
			return err
		}
		if path, err = resolve(path); err != nil {
			return err
		}
		if err := replace(path, t.Text); err != nil {
			return err
		}
	}
	return replace(f.path, index)
}

// important lists the memories of the file, pinned and important ones first, then the latest.
func (f memoryFile) important(ctx context.Context) ([]memoryfile.Memory, error) {
	query := url.Values{"user_id": {f.user}, "limit": {fmt.Sprint(memory.MaxPage)}}
	if f.agent != "" {
		query.Set("agent_id", f.agent)
	}
	for _, kind := range memoryfile.Memories.Types() {
		query.Add("type", string(kind))
	}
	var all []wire.Memory
	for {
		body, err := f.Send(ctx, http.MethodGet, "/v1/memories?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Memories []wire.Memory `json:"memories"`
			Next     string        `json:"next_cursor"`
		}
		err = errors.Join(json.NewDecoder(body).Decode(&page), body.Close())
		if err != nil {
			return nil, fmt.Errorf("read the list of memories: %w; repeat the command", err)
		}
		all = append(all, page.Memories...)
		if page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	slices.SortFunc(all, func(a, b wire.Memory) int {
		if a.Pinned != b.Pinned {
			if a.Pinned {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(b.ID, a.ID))
	})
	var shown []memoryfile.Memory
	for _, m := range all {
		if m.AgentID == f.agent {
			shown = append(shown, memoryfile.Memory{ID: m.ID, Type: m.Type, Content: m.Content})
		}
	}
	return shown, nil
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// locate replaces the line numbers of the sent file in an error by file names and line numbers of the topic files.
func (f memoryFile) locate(file string, err error) error {
	if err == nil || !f.hasTopics() {
		return err
	}
	return errors.New(lineNumber.ReplaceAllStringFunc(err.Error(), func(found string) string {
		line, _ := strconv.Atoi(lineNumber.FindStringSubmatch(found)[1]) // digits
		topic, line := memoryfile.LocateTopic(file, line)
		return fmt.Sprintf("%s line %d", topic, line)
	}))
}
