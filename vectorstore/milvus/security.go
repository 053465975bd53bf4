package milvus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"hippocampus/internal/memory"
)

// TLS protects a connection. Files are in PEM format.
type TLS struct {
	CAFile     string // authorities that may have signed the certificate of Milvus; empty: those of the system
	ServerName string // a name in the certificate of Milvus; empty: the host of the address
	CertFile   string // the client's certificate and key, which Milvus may ask for
	KeyFile    string
}

// config reads the files; t may be nil. Errors: KindInvalid if a file cannot be read.
func (t *TLS) config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		authorities, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, memory.Errorf(memory.KindInvalid, "milvus.tls.ca_file cannot be read: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, memory.Errorf(memory.KindInvalid, "milvus.tls.ca_file: %s contains no certificate in PEM format",
				t.CAFile)
		}
	}
	if t.CertFile != "" {
		own, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, memory.Errorf(memory.KindInvalid,
				"milvus.tls.cert_file and milvus.tls.key_file are not a certificate with its key: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

func transport(config *tls.Config) credentials.TransportCredentials {
	if config == nil {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(config)
}

// explain adds a remedy to the error of a refused or failed connection. The reason is empty for any other error.
func (s *Store) explain(ctx context.Context, err error) (memory.Reason, error) {
	switch status.Code(err) {
	case codes.Unauthenticated:
		return memory.ReasonCredentials, fmt.Errorf("%s: %w", s.options.credentialsRemedy(), err)
	case codes.PermissionDenied:
		return memory.ReasonPrivileges, fmt.Errorf("the user of milvus.user or milvus.token lacks a privilege: "+
			"grant it to a role of that user: %w", err)
	case codes.Unavailable:
	default:
		return "", err
	}
	if remedy := s.tlsFault(ctx, err.Error()); remedy != "" {
		return memory.ReasonTLS, fmt.Errorf("%s: %w", remedy, err)
	}
	return "", fmt.Errorf("no connection (is it running, and is the address right?): %w", err)
}

func (o *Options) credentialsRemedy() string {
	switch {
	case o.User != "":
		return "Milvus refuses the user and the password: correct milvus.user and milvus.password"
	case o.Token != "":
		return "Milvus refuses the token: correct milvus.token, or milvus.api_key if that is set"
	}
	return "Milvus requires authentication: set milvus.user and milvus.password, or milvus.token"
}

const (
	nameRemedy = "the certificate of Milvus is for another name: " +
		"set milvus.tls.server_name to the name in the certificate"
	expectsTLS = "Milvus expects TLS: set milvus.tls.enabled to true"
)

// tlsRemedies maps parts of the errors of failed handshakes to what to do.
var tlsRemedies = []struct{ part, remedy string }{
	{"first record does not look like a TLS handshake", "Milvus serves no TLS at this address: set milvus.tls.enabled " +
		"to false, or common.security.tlsMode in Milvus"},
	{"signed by unknown authority", "name the authority that signed the certificate of Milvus in milvus.tls.ca_file"},
	{"x509: certificate is valid for", nameRemedy},
	{"x509: certificate is not valid for any names", nameRemedy},
	{"x509: cannot validate certificate for", nameRemedy},
	{"remote error: tls:", "Milvus refuses this server's certificate, or asks for one: correct milvus.tls.cert_file and " +
		"milvus.tls.key_file"},
	{"failed to verify certificate", "the certificate of Milvus is not valid: renew it"},
}

func tlsRemedy(fault string) string {
	for _, r := range tlsRemedies {
		if strings.Contains(fault, r.part) {
			return r.remedy
		}
	}
	return ""
}

// tlsFault returns what to do about TLS after a call has failed with fault. If the connection was made and then closed,
// the fault does not show why, and tlsFault tries a handshake.
func (s *Store) tlsFault(ctx context.Context, fault string) (remedy string) {
	if remedy = tlsRemedy(fault); remedy != "" || strings.Contains(fault, "while dialing") {
		return remedy
	}
	if s.tls == nil {
		//nolint:gosec // The connection is closed after the handshake.
		err := handshake(ctx, s.options.Addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
		var refused *net.OpError // by an alert
		if err == nil || errors.As(err, &refused) && refused.Op == "remote error" {
			return expectsTLS
		}
		return ""
	}
	if err := handshake(ctx, s.options.Addr, s.tls.Clone()); err != nil {
		return tlsRemedy(err.Error())
	}
	return ""
}

// handshake makes a TLS connection and closes it. A server that does not accept the
// client's certificate shows this after the handshake.
func handshake(ctx context.Context, addr string, config *tls.Config) error {
	config.NextProtos = []string{"h2"} // without it, servers of gRPC refuse the handshake
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	end := time.Now().Add(200 * time.Millisecond) //nolint:forbidigo // measures a duration
	_ = conn.SetReadDeadline(end)                 // fails for closed connections only
	_, err = conn.Read(make([]byte, 1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}
