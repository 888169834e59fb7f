extension HelperTool {
  /// The tools that Hearth can set up. Each has a row in `etc/docs/helpers.md`.
  static let all = [
    HelperTool(
      "git", hook: "credential helper",
      [
        .lines(
          in: HelperFile("GIT_CONFIG_GLOBAL", ".gitconfig"), rival: "[credential \"{origin}\"",
          // The empty helper resets the list. Without it, git would let other helpers store the token.
          ["[credential \"{origin}\"]", "  helper =", "  helper = !hearthctl credential git{option}"])
      ],
      asks: "GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= git credential fill", input: "url={url}\n"),
    HelperTool(
      "docker", hook: "credential helper",
      [.member(in: HelperFile("DOCKER_CONFIG", ".docker", "config.json"), ["credHelpers", "{host}"], "hearth")],
      asks: "docker-credential-hearth get", input: "{host}"),
    HelperTool(
      "kubectl", hook: "exec plugin",
      note: """
        kubectl config set-credentials {name} --exec-api-version=client.authentication.k8s.io/v1 \
        --exec-command=hearthctl --exec-arg=credential --exec-arg=kubectl --exec-arg=--for --exec-arg={url}
        """,
      asks: "hearthctl credential kubectl{option} --for {url}"),
    HelperTool(
      "pnpm", hook: "tokenHelper",
      [
        .program(
          HelperFile(nil, ".local/bin/hearth-token-{account}"),
          ["token=$(hearthctl token {account} --for {url}) && echo \"Bearer $token\""]),
        .lines(
          in: HelperFile("NPM_CONFIG_USERCONFIG", ".npmrc"), rival: "//{place}:",
          ["//{place}:tokenHelper={home}/.local/bin/hearth-token-{account}"]),
      ],
      asks: "{home}/.local/bin/hearth-token-{account}"),
    HelperTool(
      "terraform", hook: "credentials helper",
      [
        .program(
          HelperFile(nil, ".terraform.d/plugins/terraform-credentials-hearth"),
          ["exec hearthctl credential terraform{option} \"$@\""]),
        .lines(
          in: HelperFile("TF_CLI_CONFIG_FILE", ".terraformrc"), rival: "credentials_helper ",
          ["credentials_helper \"hearth\" {}"]),
      ],
      asks: "{home}/.terraform.d/plugins/terraform-credentials-hearth get {host}"),
    HelperTool(
      "go", hook: "GOAUTH",
      [
        .lines(
          in: HelperFile("GOENV", ".config/go/env"), rival: "GOAUTH=",
          ["GOAUTH=hearthctl credential goauth{option};netrc"])
      ],
      asks: "hearthctl credential goauth{option} {url}"),
    HelperTool(
      "bazel", hook: "credential helper",
      [
        .lines(
          in: HelperFile(nil, ".bazelrc"), rival: "common --credential_helper={name}=",
          ["common --credential_helper={name}=bazel-credential-hearth"])
      ],
      asks: "bazel-credential-hearth get", input: "{\"uri\": \"{url}\"}"),
    HelperTool(
      "cargo", hook: "credential provider",
      note: """
        In the registry's table in ~/.cargo/config.toml:
        credential-provider = ["cargo:token-from-stdout", "hearthctl", "token", "{account}", "--for", "{url}"]
        """, asks: "hearthctl token {account} --for {url}"),
    HelperTool(
      "claude", hook: "apiKeyHelper",
      [
        .member(
          in: HelperFile("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), ["apiKeyHelper"],
          "hearthctl token {account} --min-valid 300 --for {url}")
      ],
      note: "Set ANTHROPIC_BASE_URL to the address of your gateway, {url}, if you have not done so yet.",
      asks: "hearthctl token {account} --min-valid 300 --for {url}"),
    HelperTool(
      "mcp", hook: "headersHelper",
      note: """
        claude mcp add-json {name} '{"type": "http", "url": "{url}", \
        "headersHelper": "hearthctl token {account} --headers json --for {url}"}'
        """, asks: "hearthctl token {account} --headers json --for {url}"),
    HelperTool(
      "codex", hook: "model_providers.X.auth",
      [
        .lines(
          in: HelperFile("CODEX_HOME", ".codex", "config.toml"), rival: "[model_providers.hearth-{account}",
          [
            "[model_providers.hearth-{account}]", "name = \"{account} by Hearth\"", "base_url = \"{url}\"",
            "wire_api = \"responses\"", "[model_providers.hearth-{account}.auth]", "command = \"hearthctl\"",
            "args = [\"token\", \"{account}\", \"--min-valid\", \"300\", \"--for\", \"{url}\"]",
          ])
      ],
      note: "To use this provider, add at the top of config.toml: model_provider = \"hearth-{account}\"",
      asks: "hearthctl token {account} --min-valid 300 --for {url}"),
    HelperTool(
      "mail", hook: "password command",
      note: """
        msmtp:            passwordeval hearthctl token {account} --for {url}
        mbsync:           PassCmd "hearthctl token {account} --for {url}"
        aerc:             source-cred-cmd = hearthctl token {account} --for {url}
        himalaya:         imap.sasl.oauthbearer.token.command = ["hearthctl", "token", "{account}", "--for", "{url}"]
        vdirsyncer:       password.fetch = ["command", "hearthctl", "token", "{account}", "--for", "{host}"]
        offlineimap:      oauth2_access_token_eval = __import__("subprocess").check_output(["hearthctl", "token", \
        "{account}", "--for", "{url}"], text=True)
        getmail:          password_command = ("hearthctl", "token", "{account}", "--for", "{url}")
        neomutt:          set imap_oauth_refresh_command = "hearthctl token {account} --for {url}"
                          set smtp_oauth_refresh_command = "hearthctl token {account} --for {url}"
        """, asks: "hearthctl token {account} --for {url}"),
    HelperTool(
      "netrc", hook: "netrc", note: "hearthctl sink add {account} ~/.netrc --format netrc --host {name}",
      asks: "awk '$1 == \"machine\" && $2 == \"{name}\" { print $6 }' {home}/.netrc"),
    HelperTool(
      "aws", hook: "AWS_WEB_IDENTITY_TOKEN_FILE",
      note: """
        hearthctl sink add {account} '%t/{account}.jwt' --bearer id_token
        In ~/.aws/config:
        [profile {account}]
        role_arn = arn:aws:iam::ACCOUNT:role/ROLE
        web_identity_token_file = /run/user/UID/{account}.jwt
        """),
  ]
}
