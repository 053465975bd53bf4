package memorytool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hippocampus/internal/memory"
)

func (r *run) create() (string, error) {
	c := r.command
	path, err := resolve(c.Path)
	if err != nil {
		return "", err
	}
	if r.files.exists(path) {
		return "", refusal(fmt.Sprintf("File %s already exists", c.Path))
	}
	if err := r.files.fits(path, c.Path); err != nil {
		return "", err
	}
	r.change.free = path
	r.put(memory.File{ID: memory.NewID(), Path: path}, c.FileText)
	return "File created successfully at: " + c.Path, nil
}

func (r *run) replace(ctx context.Context) (string, error) {
	c := r.command
	file, err := r.edited(ctx)
	if err != nil {
		return "", err
	}
	at := strings.Index(file.Content, c.OldStr)
	switch strings.Count(file.Content, c.OldStr) {
	case 0:
		return "", refusal(fmt.Sprintf("No replacement was performed, old_str `%s` did not appear verbatim in %s.",
			c.OldStr, c.Path))
	case 1:
	default:
		return "", refusal(fmt.Sprintf("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. "+
			"Please ensure it is unique", c.OldStr, linesOf(file.Content, c.OldStr)))
	}
	content := file.Content[:at] + c.NewStr + file.Content[at+len(c.OldStr):]
	r.put(file, content)

	const around = 2
	lines, changed := strings.Split(content, "\n"), strings.Count(file.Content[:at], "\n")
	return "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" +
		numbered(lines, max(0, changed-around), min(len(lines), changed+around+1)), nil
}

// linesOf lists the line in which each occurrence of a text begins. Occurrences may overlap.
func linesOf(content, text string) string {
	var lines []string
	line, start := 1, 0
	for {
		i := strings.Index(content[start:], text)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		line += strings.Count(content[start:start+i], "\n")
		lines = append(lines, strconv.Itoa(line))
		if content[start+i] == '\n' {
			line++
		}
		start += i + 1
	}
}

func (r *run) insert(ctx context.Context) (string, error) {
	c := r.command
	file, err := r.edited(ctx)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(file.Content, "\n"), "\n")
	if file.Content == "" {
		lines = nil
	}
	if c.InsertLine < 0 || c.InsertLine > len(lines) {
		return "", refusal(fmt.Sprintf("Invalid `insert_line` parameter: %d. It should be within the range [0, %d].",
			c.InsertLine, len(lines)))
	}
	lines = slices.Insert(lines, c.InsertLine, strings.TrimRight(c.InsertText, "\n"))
	content := strings.Join(lines, "\n")
	if !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	r.put(file, content)
	return fmt.Sprintf("The file %s has been edited.", c.Path), nil
}

// edited returns the file that a command edits.
func (r *run) edited(ctx context.Context) (memory.File, error) {
	seen, err := r.files.resolveFile(r.command.Path)
	if err != nil {
		return memory.File{}, err
	}
	file, err := r.read(ctx, seen.Path)
	r.change.from = seen.Path
	r.change.seen = tree{{ID: file.ID, Path: file.Path, Version: file.Version, Bytes: len(file.Content)}}
	return file, err
}

// put sets the change that stores a file with a new content.
func (r *run) put(file memory.File, content string) {
	file.Content = content
	file.Version++
	r.change.put = &file
}
