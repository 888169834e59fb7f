import Crypto
import Foundation
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("The pages of a sign-in")
struct SignInPageTests {
  @Test("nothing is loaded or run, and the style is the one that the policy names")
  func policy() {
    let hash = Data(SHA256.hash(data: Data(SignInPage.style.utf8))).base64EncodedString()
    #expect(SignInPage.policy.contains("default-src 'none'") && SignInPage.policy.contains("'sha256-\(hash)'"))
    #expect(SignInPage.over.html.contains("<style>\(SignInPage.style)</style>"))
    #expect(SignInPage.style.contains("color-scheme:light dark"))
  }

  @Test("text from outside is text on the page")
  func escaped() {
    let page = SignInPage.failed("<script>alert('1')</script> & \"\u{202E}", .sample)
    #expect(page.html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;"))
    #expect(!page.html.contains("<script") && !page.html.contains("\u{202E}"))
  }
}
