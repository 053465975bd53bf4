package memorytool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	levels         = 2    // of a directory that are shown
	directoryBytes = 4096 // what the reference's directories take on a disk
)

func (r *run) view(ctx context.Context) (string, error) {
	c := r.command
	path, err := resolve(c.Path)
	if err != nil {
		return "", err
	}
	if _, ok := r.files.file(path); ok {
		file, err := r.read(ctx, path)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("Here's the content of %s with line numbers:\n", c.Path) + inRange(file.Content, c.ViewRange), nil
	}
	if !r.files.isDirectory(path) {
		return "", missing(c.Path)
	}
	lines := []string{
		fmt.Sprintf("Here're the files and directories up to %d levels deep in %s, excluding hidden items:", levels, c.Path),
		sizeText(directoryBytes) + "\t" + c.Path,
	}
	return strings.Join(r.files.list(path, c.Path, levels, lines), "\n"), nil
}

// list appends the lines of the entries of a directory, in the order of their names, each directory before what is in
// it. shown is the path of the directory in the lines.
func (t tree) list(path, shown string, levels int, lines []string) []string {
	if levels == 0 {
		return lines
	}
	sizes := map[string]int{} // by name; of directories, -1
	for _, e := range t {
		rest, within := strings.CutPrefix(e.Path, path+"/")
		if !within || strings.HasPrefix(rest, ".") {
			continue
		}
		if name, _, deeper := strings.Cut(rest, "/"); deeper {
			sizes[name] = -1
		} else {
			sizes[name] = e.Bytes
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if size := sizes[name]; size >= 0 {
			lines = append(lines, fmt.Sprintf("%s\t%s/%s", sizeText(size), shown, name))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s\t%s/%s/", sizeText(directoryBytes), shown, name))
		lines = t.list(path+"/"+name, shown+"/"+name, levels-1, lines)
	}
	return lines
}

// sizeText is a number of bytes as the reference writes it: 0B, 512B, 1.5K, 100K, 4.9M.
func sizeText(bytes int) string {
	const k = 1024
	units := []string{"B", "K", "M"}
	size := float64(bytes)
	for size >= k && len(units) > 1 {
		size /= k
		units = units[1:]
	}
	if size == float64(int(size)) {
		return fmt.Sprintf("%d%s", int(size), units[0])
	}
	return fmt.Sprintf("%.1f%s", size, units[0])
}

// inRange numbers the lines of a content. bounds is empty, or holds the first and the last line, from 1; -1: to the
// end. As in the reference, a first line below 1 is 1, and a last line below -1 counts from the end.
func inRange(content string, bounds []int) string {
	lines := strings.Split(content, "\n")
	first, last := 0, len(lines)
	if len(bounds) == 2 {
		first = min(max(bounds[0], 1)-1, len(lines))
		switch {
		case bounds[1] < -1:
			last = max(len(lines)+bounds[1], 0)
		case bounds[1] >= 0:
			last = min(bounds[1], len(lines))
		}
	}
	return numbered(lines, first, max(first, last))
}

// numbered returns the lines from first to before last, from 0, with their numbers.
func numbered(lines []string, first, last int) string {
	texts := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		texts = append(texts, fmt.Sprintf("%6d\t%s", i+1, lines[i]))
	}
	return strings.Join(texts, "\n")
}
