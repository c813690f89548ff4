import Formats

/// Bytes that OpenSSL 3 does not make any more.
enum Base64Fixture {
    /// `openssl pkcs12 -export -legacy`: a certificate under RC2 with 40 bits, a key under triple DES; password `changeit`.
    static let legacyContainer: [UInt8] =
        Base64.decode(
            """
            MIIDcgIBAzCCAzgGCSqGSIb3DQEHAaCCAykEggMlMIIDITCCAhcGCSqGSIb3DQEHBqCCAggwggIEAgEAMIIB/QYJKoZIhvcNAQcB\
            MBwGCiqGSIb3DQEMAQYwDgQI8UvmL/36iIYCAggAgIIB0OuG1deKMu68ylBOg+J+Q8IfRbD8TKbvS+wVnwd8iAjFARyG6eMZuIZy\
            WqjRZVYiohhpcmo9np/AtOssoH1AI4UswpANk2AJY/LyjF1BHfBUkHx0G44vzu0DHNv+cyXwgstc/U2pP9zBAWCgKABgCNn5OX0E\
            2UciYUTLAmKersyogL++Ax9ZSAFakrCfhsOjeyx1b2acuKw8rsMJlwREX1BKPQ54AhT5G5JXta+EnIxdCAsghRIvc0cgx+vdQ2p7\
            Amkf9x7hQe0XC806T1Z4GWbC3PJ2p1Bi295/kfOqFEyXhpRo5ix1+FZ8p88foGst2hFTppK+RTDpMl/gm2kPPeHd8VQdg2VAaVkn\
            s77lRdftwxPic9KYIrS6wGY024eraALCcuZrH49K7Pj7J42+tbf9cjVngWKHdg3Y88kfW/YyukbTmJkBcTL1rK+SSjyqjJR9ft6i\
            e8bGApyXbLMelWW97pu4v+OrYRUieIjnFcN8hkFzEiTgDavFrABOrjoC2khLm/Qp6G6Lisa0Pg/M1B++VyZcnnUorrTApm+xUlq1\
            c3YYLkInG4xEbBfKJIyA1CMtj5waI3aVLXOBV5CI2iLnyTEralsgarnSDcN9AjQzMIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHr\
            BgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0BDAEDMA4ECFWV1w0pxgdEAgIIAASBkFmpAcHnSfdwbKMjpr/p29/aUJY4+JEO\
            GVSeOnANzE7UlbnAgSAfA/USYfVH7uotGZQ/8UwXsvwxQ2uRpdgcAdnSDb/LeqQt/nEOzJklSCfMMUSH9dtKwY2y0cE4+pVx3oIW\
            jQ3OGNe3NcSI+psffOGcm9Zqwt8HvBxMcoWuZxze4NHE6lg2B17MTauI1aW4zDElMCMGCSqGSIb3DQEJFTEWBBTWiSJo6fAWQ8Tv\
            PgIEUO9k6H8gPDAxMCEwCQYFKw4DAhoFAAQUu1eVUazIeuD99XXH1AOEpR4sIrkECFvMKoGH+ODaAgIIAA==
            """) ?? []
}
