package memorytool

import (
	"fmt"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// tree is the files of a scope in the order of their paths. A directory exists as long as a file is in it.
type tree []entry

// resolveFile is resolve for a path at which there must be a file.
func (t tree) resolveFile(path string) (file entry, err error) {
	resolved, err := resolve(path)
	if err != nil {
		return entry{}, err
	}
	if file, ok := t.file(resolved); ok {
		return file, nil
	}
	if t.isDirectory(resolved) {
		return entry{}, refusal(fmt.Sprintf("The path %s is not a file.", path))
	}
	return entry{}, missing(path)
}

func missing(path string) error {
	return refusal(fmt.Sprintf("The path %s does not exist. Please provide a valid path.", path))
}

func (t tree) file(path string) (entry, bool) {
	i := slices.IndexFunc(t, func(e entry) bool { return e.Path == path })
	if i < 0 {
		return entry{}, false
	}
	return t[i], true
}

// within returns the file at a path, or the files in the directory at it.
func (t tree) within(path string) (found tree) {
	for _, e := range t {
		if e.Path == path || strings.HasPrefix(e.Path, path+"/") {
			found = append(found, e)
		}
	}
	return found
}

func (t tree) isDirectory(path string) bool {
	return path == memory.FileRoot ||
		slices.ContainsFunc(t, func(e entry) bool { return strings.HasPrefix(e.Path, path+"/") })
}

// exists reports whether there is a file or a directory at a path.
func (t tree) exists(path string) bool { return path == memory.FileRoot || len(t.within(path)) > 0 }

// above returns the path of the file that a path uses as a directory, or "".
func (t tree) above(path string) string {
	for _, e := range t {
		if strings.HasPrefix(path, e.Path+"/") {
			return e.Path
		}
	}
	return ""
}

// fits refuses a path whose directory is a file.
func (t tree) fits(path, shown string) error {
	if above := t.above(path); above != "" {
		return refusal(fmt.Sprintf("Path %s cannot be used: %s is a file and not a directory", shown, above))
	}
	return nil
}
