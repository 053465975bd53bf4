package main

import "fmt"

// files checks that each file has a content that it may have, and one active memory for its one paragraph.
func (c *checker) files() {
	found, stated := map[string][]File{}, map[string][]Memory{}
	for _, f := range c.found.Files {
		name := word.FindString(f.Path)
		found[name] = append(found[name], f)
	}
	for _, m := range c.found.Memories {
		if m.Metadata.Source == "memory-tool" && m.Status == "active" {
			name := word.FindString(m.Metadata.Path)
			stated[name] = append(stated[name], m)
		}
	}
	for _, o := range c.of(CreateFile) {
		files, memories := found[o.name], stated[o.name]
		if len(files) > 1 {
			c.blame(o, "doubled", files)
			continue
		}
		value := ""
		if len(files) == 1 {
			value = versionIn(files[0].Content)
		}
		switch {
		case value == "" && !o.possible[""]:
			c.blame(o, "lost", files)
		case value != "" && o.is(""):
			c.blame(o, "deleted, and it lives", files[0])
		case !o.possible[value]:
			c.blame(o, "another value", files)
		case len(memories) != len(files):
			c.blame(o, fmt.Sprintf("%d active memories state its paragraph", len(memories)), memories)
		case len(files) == 1 && versionIn(memories[0].Content) != value:
			c.blame(o, "its memory states another content", memories[0])
		}
	}
}

// versionIn returns the version that a text names; "" if it names no version.
func versionIn(text string) string {
	match := version.FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	return match[1]
}

// pins checks that each memory that exists is pinned or unpinned as last requested.
func (c *checker) pins() {
	found := map[string]Memory{}
	for _, m := range c.found.Memories {
		for _, tag := range m.Tags {
			if m.Status != "superseded" {
				found[tag] = m
			}
		}
	}
	for _, o := range c.of(Pin) {
		m, lives := found[o.of]
		value := ""
		if m.Pinned {
			value = pinned
		}
		if lives && !o.possible[value] {
			c.blame(o, "another value", m)
		}
	}
}

// relations checks that each relation exists once.
func (c *checker) relations() {
	found := map[string]int{}
	for _, r := range c.found.Relations {
		found[r.key()]++
	}
	for _, o := range c.of(Relate) {
		switch n := found[o.id]; {
		case n > 1:
			c.blame(o, "doubled", n)
		case n == 0 && !o.possible[""]:
			c.blame(o, "lost", "nothing")
		case n == 1 && !o.possible[existing]:
			c.blame(o, "erased, and it lives", o.id)
		}
	}
}
