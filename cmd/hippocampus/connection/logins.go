package connection

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/server/config"
)

// Login is a server with the key and the user that commands use there.
type Login struct {
	URL  string `json:"url"`
	Key  string `json:"key,omitempty"`
	User string `json:"user,omitempty"`
}

// Logins are the servers that the user of this machine has logged in to. They are kept in a file of the user's
// configuration folder:
//
//	$XDG_CONFIG_HOME, %AppData% on Windows, or $HOME/.config -> hippocampus/logins.json
type Logins struct {
	path    string
	Default string           `json:"default"` // the login that commands use; "" without logins
	Servers map[string]Login `json:"servers"` // by name
}

// ReadLogins reads the file of an environment. It returns no logins if there is no file.
func ReadLogins(env []string) (*Logins, error) {
	logins := &Logins{path: loginsFile(env), Servers: map[string]Login{}}
	if logins.path == "" {
		return logins, nil
	}
	raw, err := os.ReadFile(logins.path)
	if errors.Is(err, fs.ErrNotExist) {
		return logins, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, logins)
	}
	if err != nil {
		return nil, fmt.Errorf("read the logins in %s: %w; delete the file and log in again", logins.path, err)
	}
	return logins, nil
}

// loginsFile returns the path of the file, or "" if the environment has no home.
func loginsFile(env []string) string {
	folder := config.Lookup(env, "XDG_CONFIG_HOME")
	if folder == "" && runtime.GOOS == "windows" {
		folder = config.Lookup(env, "AppData")
	}
	if home := config.Lookup(env, "HOME"); folder == "" && home != "" {
		folder = filepath.Join(home, ".config")
	}
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "hippocampus", "logins.json")
}

// Path returns where the file is.
func (l *Logins) Path() string { return l.path }

// Find returns the login of a name; the default one if it is "".
func (l *Logins) Find(name string) (Login, error) {
	if name == "" {
		name = l.Default
	}
	login, exists := l.Servers[name]
	if !exists {
		hint := "run `hippocampus login`"
		if names := slices.Sorted(maps.Keys(l.Servers)); len(names) > 0 {
			hint = "give " + strings.Join(names, " or ")
		}
		return login, exit.Usagef("there is no login %q: %s", name, hint)
	}
	return login, nil
}

// keyOf returns the key and the name of a login at a URL, or "".
func (l *Logins) keyOf(url string) (key, name string) {
	for _, name := range slices.Sorted(maps.Keys(l.Servers)) {
		if l.Servers[name].URL == url {
			return l.Servers[name].Key, name
		}
	}
	return "", ""
}

// Add adds or replaces a login, and makes it the default.
func (l *Logins) Add(name string, login Login) error {
	l.Servers[name], l.Default = login, name
	return l.write()
}

// Remove removes a login. If it was the default, the first of the others becomes the default.
func (l *Logins) Remove(name string) error {
	delete(l.Servers, name)
	if l.Default == name {
		l.Default = ""
		if names := slices.Sorted(maps.Keys(l.Servers)); len(names) > 0 {
			l.Default = names[0]
		}
	}
	return l.write()
}

// write replaces the whole file by one that only its owner can read.
func (l *Logins) write() error {
	if l.path == "" {
		return errors.New("there is no place for the login: set HOME or XDG_CONFIG_HOME")
	}
	folder := filepath.Dir(l.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".logins-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(append(raw, '\n'))
	err = errors.Join(err, file.Sync(), file.Close(), os.Chmod(folder, 0o700)) //nolint:gosec // it is a folder
	if err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
