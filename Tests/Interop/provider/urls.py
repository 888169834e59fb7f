from django.contrib.auth.views import LoginView
from django.urls import include, path

import api
import control

urlpatterns = [
    path("login/", LoginView.as_view()),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("api/me", api.me),
    path("api/notes", api.notes),
    path("control/client", control.client),
    path("control/trouble", control.trouble),
]
