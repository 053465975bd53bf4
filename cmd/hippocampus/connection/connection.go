// Package connection finds the server of a command, its key and the user:
//
//	--url | --login | --data (within the process) | --listen or --config
//	-> $HIPPOCAMPUS_URL -> $HIPPOCAMPUS_LOGIN or the default login -> the configured address
//
//	key: --key-file -> $HIPPOCAMPUS_KEY -> the login at that URL
//	user: --user -> $HIPPOCAMPUS_USER -> the login
package connection

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/server/app"
	"hippocampus/server/config"
)

// Sources give the environment, the host and the settings of the program.
type Sources struct {
	Env  []string // NAME=VALUE lines
	Host app.Host

	// Load reads the settings. changes override the settings of all other sources.
	Load func(changes map[string]string) (config.Config, error)
	// Given reports whether the command line has a setting, such as data.
	Given func(setting string) bool
}

// Flags are the flags of a command that name its server.
type Flags struct {
	sources                   Sources
	URL, KeyFile, Login, User string
	Make                      bool // make the data folder if it has no database
}

// Add adds --url, --key-file and --login to a command.
func (s Sources) Add(cmd *cobra.Command) *Flags {
	f := &Flags{sources: s}
	flags := cmd.Flags()
	flags.StringVar(&f.URL, "url", "", "`URL` of the server (default $"+config.URLVariable+
		", the login's, or http:// and the configured address)")
	flags.StringVar(&f.KeyFile, "key-file", "", "`file` with the API key, - for stdin (default $"+config.KeyVariable+
		" or the login's)")
	flags.StringVar(&f.Login, "login", "", "`name` of the login to use (default $"+config.LoginVariable+
		" or the latest login)")
	cmd.MarkFlagsMutuallyExclusive("url", "login")
	_ = cmd.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions) // fails only for unknown flags
	_ = cmd.RegisterFlagCompletionFunc("login", f.completeLogins)
	return f
}

func (f *Flags) completeLogins(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	logins, err := ReadLogins(f.sources.Env)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(logins.Servers)), cobra.ShellCompDirectiveNoFileComp
}

// AddUser adds --user to a command.
func (f *Flags) AddUser(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.User, "user", "", "`user` whose memories are meant (default $"+config.UserVariable+
		" or the login's)")
}

// Session is a server that a command sends requests to.
type Session struct {
	remote.Server
	User  string // may be empty
	close func() error
}

// Close ends a server within the process.
func (s *Session) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// NeedUser returns the user, or an error if it is empty.
func (s *Session) NeedUser() (string, error) {
	if s.User == "" {
		return "", exit.Usagef("no user is named: give --user, set %s, or log in with --user", config.UserVariable)
	}
	return s.User, nil
}

// Open finds the server. Standard input is read if it has the key. The caller closes the session.
func (f *Flags) Open(ctx context.Context, stdin io.Reader) (*Session, error) {
	getenv := func(name string) string { return config.Lookup(f.sources.Env, name) }
	logins, err := ReadLogins(f.sources.Env)
	if err != nil {
		return nil, err
	}
	user := f.User
	if user == "" {
		user = getenv(config.UserVariable)
	}
	if f.URL == "" && f.Login == "" && f.sources.Given("data") {
		session, err := f.openData(ctx)
		if err == nil {
			session.User = user
		}
		return session, err
	}
	server, login, err := f.locate(logins, getenv)
	if err != nil {
		return nil, err
	}
	if user == "" {
		user = login.User
	}
	server.Key, server.KeySource = login.Key, "the login"
	if login.URL == "" {
		var name string
		server.Key, name = logins.keyOf(server.Base)
		server.KeySource = "the login " + name
	}
	if key := getenv(config.KeyVariable); key != "" {
		server.Key, server.KeySource = key, config.KeyVariable
	}
	if f.KeyFile != "" {
		if server.Key, err = ReadKey(f.KeyFile, stdin); err != nil {
			return nil, err
		}
		server.KeySource = f.KeyFile
	}
	return &Session{Server: server, User: user}, nil
}

// locate returns the server, and the login if a login names the server.
func (f *Flags) locate(logins *Logins, getenv func(string) string) (remote.Server, Login, error) {
	name := f.Login
	configured := f.sources.Given("listen") || f.sources.Given("config")
	switch {
	case f.URL != "":
		server, err := remote.New(f.URL)
		return server, Login{}, err
	case name != "":
	case configured:
	case getenv(config.URLVariable) != "":
		server, err := remote.New(getenv(config.URLVariable))
		return server, Login{}, err
	default:
		name = getenv(config.LoginVariable)
		if name == "" {
			name = logins.Default
		}
	}
	if name != "" {
		login, err := logins.Find(name)
		if err != nil {
			return remote.Server{}, login, err
		}
		server, err := remote.New(login.URL)
		return server, login, err
	}
	cfg, err := f.sources.Load(nil)
	if err != nil {
		return remote.Server{}, Login{}, err
	}
	server, err := remote.New("http://" + Dialable(cfg.Listen))
	return server, Login{}, err
}

// openData starts a server within the process on the folder of --data.
func (f *Flags) openData(ctx context.Context) (*Session, error) {
	changes := map[string]string{}
	if !f.sources.Given("log.level") {
		changes["log.level"] = "error"
	}
	cfg, err := f.sources.Load(changes)
	if err != nil {
		return nil, err
	}
	if !f.Make {
		if err := app.HasData(cfg); err != nil {
			return nil, err
		}
	}
	return OpenFolder(ctx, cfg, f.sources.Host)
}

// OpenFolder starts a server within the process on the data folder of settings.
func OpenFolder(ctx context.Context, cfg config.Config, host app.Host) (*Session, error) {
	local, err := app.OpenLocal(ctx, cfg, host)
	if err != nil {
		return nil, err
	}
	server := remote.Server{Base: "http://localhost", Name: cfg.Data, Client: local.Client()}
	return &Session{Server: server, close: local.Close}, nil
}

// ReadKey reads a key from a file, or from standard input (-).
func ReadKey(name string, stdin io.Reader) (string, error) {
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(io.LimitReader(stdin, 4<<10))
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(string(raw))
	if key == "" || strings.ContainsAny(key, " \r\n\t") {
		return "", exit.Usagef("--key-file %s does not hold one key: write the key alone into it", name)
	}
	return key, nil
}

// Dialable returns the address at which a server that listens on listen can be reached from this machine.
func Dialable(listen string) string {
	host, port, _ := net.SplitHostPort(listen) // config has checked it
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
