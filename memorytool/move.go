package memorytool

import (
	"fmt"
	"strings"

	"hippocampus/internal/memory"
)

func (r *run) delete() (string, error) {
	c := r.command
	path, err := resolve(c.Path)
	if err != nil {
		return "", err
	}
	if path == memory.FileRoot {
		return "", refusal("Cannot delete the /memories directory itself")
	}
	seen := r.files.within(path)
	if len(seen) == 0 {
		return "", refusal(fmt.Sprintf("The path %s does not exist", c.Path))
	}
	r.change.from, r.change.seen = path, seen
	return "Successfully deleted " + c.Path, nil
}

func (r *run) rename() (string, error) {
	c := r.command
	from, err := resolve(c.OldPath)
	if err != nil {
		return "", err
	}
	to, err := resolve(c.NewPath)
	if err != nil {
		return "", err
	}
	seen := r.files.within(from)
	switch {
	case from == memory.FileRoot:
		return "", refusal("Cannot rename the /memories directory itself")
	case r.files.exists(to):
		return "", refusal(fmt.Sprintf("The destination %s already exists", c.NewPath))
	case len(seen) == 0:
		return "", refusal(fmt.Sprintf("The path %s does not exist", c.OldPath))
	case strings.HasPrefix(to, from+"/"):
		return "", refusal(fmt.Sprintf("Cannot rename %s to %s, which is inside it", c.OldPath, c.NewPath))
	}
	if err := r.files.fits(to, c.NewPath); err != nil {
		return "", err
	}
	for _, e := range seen {
		if why := memory.CheckFilePath(to + strings.TrimPrefix(e.Path, from)); why != "" {
			return "", refusal(fmt.Sprintf("Cannot rename %s to %s: the new path of %s %s", c.OldPath, c.NewPath, e.Path, why))
		}
	}
	r.change.from, r.change.seen = from, seen
	r.change.free = to
	return fmt.Sprintf("Successfully renamed %s to %s", c.OldPath, c.NewPath), nil
}
