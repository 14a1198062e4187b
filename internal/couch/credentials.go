package couch

// Credentials are what requests are sent with, for a job that another server
// runs with them. They go to that server and nowhere else.
func (s *Server) Credentials() (user, password string) {
	return s.options.User, s.options.Password
}
