"""Tables about models before and while they serve: engines and a judge in, figures with n and intervals out."""
